"""The main job on one machine: truck, checkpoint, ledger and auditor, each its own process."""
