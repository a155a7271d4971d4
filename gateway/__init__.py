"""The checkpoint: intake, uploads, the offload saga, the index, audits over REST."""
