"""On-chain identities: the family, its setting, and the names of its roles.

Source: Sawtooth 1.2, Identity transaction family specification, and administration guide,
"Configuring Validator and Transactor Permissions".
"""

from typing import Final

from contracts.sawtooth.batches import Family

FAMILY: Final = Family("sawtooth_identity", "1.0")
ALLOWED_KEYS: Final = "sawtooth.identity.allowed_keys"
"""On-chain setting with the keys that may set roles and policies, separated by commas."""
DEFAULT_POLICY: Final = "default"
TRANSACTOR: Final = "transactor"
BATCH_SIGNER: Final = "transactor.batch_signer"
TRANSACTION_SIGNER: Final = "transactor.transaction_signer"
"""A dot and a family's name after it make the role for that family."""
EVERY_KEY: Final = "*"
