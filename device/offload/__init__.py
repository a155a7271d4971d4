"""The offload: everything the journal holds goes to a gateway, and is deleted on its receipt."""
