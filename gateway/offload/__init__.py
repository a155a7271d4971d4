"""The offload saga: from held to committed and receipted, until the truck may delete."""
