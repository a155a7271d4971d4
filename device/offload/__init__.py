"""The offload: sends everything in the journal to a gateway, and deletes it on a receipt."""
