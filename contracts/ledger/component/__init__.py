"""The component port: transaction processors and event subscribers, over ZeroMQ."""
