"""Errors of the REST API, with Sawtooth's codes, titles and messages.

Source: Sawtooth 1.2, REST API specification, "Error responses"; recorded answers.
"""

from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError


class ApiError(RejectedError):
    """A request is answered with an error.

    Args:
        kind: The kind of error.
        detail: Follows the message.
    """

    def __init__(self, kind: "Kind", detail: str = "") -> None:
        super().__init__(f"{kind.title}: {kind.message}{detail}")
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of error.

    Attributes:
        status: HTTP status.
        code: Sawtooth's number for it; numbers from 200 on are ours.
        title: Short headline.
        message: The fault, for people.
    """

    status: int
    code: int
    title: str
    message: str

    def error(self, detail: str = "") -> ApiError:
        """Return the error to raise."""
        return ApiError(self, detail)


@dataclass(frozen=True, slots=True)
class IdErrors:
    """Errors of a resource that is requested by ids, in the query or in the body of a POST."""

    query: Kind
    content_type: Kind
    body: Kind


def _id_errors(codes: tuple[int, int, int], asked_for: str, of: str, body_title: str) -> IdErrors:
    """Return the errors of a resource.

    Args:
        codes: Of the query, the content type and the body.
        asked_for: The resource.
        of: The kind of id.
        body_title: Title of the body's error.
    """
    requests = f"Requests for {asked_for} sent as a"
    query, content_type, body = codes
    return IdErrors(
        Kind(
            400,
            query,
            "Id Query Invalid or Missing",
            f"{requests} GET request must have an 'id' query parameter with a comma-separated "
            f"list of at least one {of} id.",
        ),
        Kind(
            400,
            content_type,
            "Wrong Content Type",
            f"{requests} POST must have a 'Content-Type' header of 'application/json'.",
        ),
        Kind(
            400,
            body,
            body_title,
            f"{requests} POST must have a JSON formatted body with an array of at least one id "
            "string.",
        ),
    )


STATUSES: Final = _id_errors((66, 43, 46), "batch statuses", "batch", "Bad Status Request")
RECEIPTS: Final = _id_errors(
    (83, 81, 82), "transaction receipts", "transaction", "Bad Receipts Request"
)
TIMED_OUT: Final = Kind(
    503,
    17,
    "Validator Timed Out",
    "The request timed out while waiting for a response from the validator. "
    "Your request may or may not have been processed.",
)
BATCHES_INVALID: Final = Kind(
    400,
    30,
    "Submitted Batches Invalid",
    "The submitted BatchList was rejected by the validator. It was poorly formed, "
    "or has an invalid signature.",
)
QUEUE_FULL: Final = Kind(
    429,
    31,
    "Unable to Accept Batches",
    "The validator cannot currently accept more batches, due to a full queue.  "
    "Please submit your request again.",
)
NO_BATCHES: Final = Kind(
    400,
    34,
    "No Batches Submitted",
    "The protobuf BatchList you submitted was empty and contained no Batches. "
    "You must submit at least one Batch.",
)
NOT_DECODABLE: Final = Kind(
    400,
    35,
    "Protobuf Not Decodable",
    "The protobuf BatchList you submitted was malformed and could not be read.",
)
BATCHES_CONTENT_TYPE: Final = Kind(
    400,
    42,
    "Wrong Content Type",
    "Batches must be submitted in a BatchList protobuf binary, with a 'Content-Type' header of "
    "'application/octet-stream'.",
)
HEAD_NOT_FOUND: Final = Kind(
    404,
    50,
    "Head Not Found",
    "There is no block with the id specified in the 'head' query parameter.",
)
BAD_COUNT: Final = Kind(
    400,
    53,
    "Invalid Count Query",
    "The 'count' query parameter must be a positive, non-zero integer.",
)
BAD_PAGING: Final = Kind(
    400,
    54,
    "Invalid Paging Query",
    "Paging request failed as written. One or more of the 'min', 'max', or 'count' query "
    "parameters were invalid or out of range.",
)
BAD_SORT: Final = Kind(
    400,
    57,
    "Invalid Sort Query",
    "The sort request failed as written. Some of the keys specified were not valid.",
)
BAD_ID: Final = Kind(
    400,
    60,
    "Invalid Resource Id",
    "Blockchain items are identified by 128 character hex-strings. A submitted block, batch, or "
    "transaction id was invalid: ",
)
BAD_ADDRESS: Final = Kind(
    400,
    62,
    "Invalid State Address",
    "The state address submitted was invalid. To fetch specific state data, you must submit the "
    "full 70-character address.",
)
BLOCK_NOT_FOUND: Final = Kind(
    404, 70, "Block Not Found", "There is no block with the id specified in the blockchain."
)
BATCH_NOT_FOUND: Final = Kind(
    404, 71, "Batch Not Found", "There is no batch with the id specified in the blockchain."
)
TRANSACTION_NOT_FOUND: Final = Kind(
    404,
    72,
    "Transaction Not Found",
    "There is no transaction with the id specified in the blockchain.",
)
STATE_NOT_FOUND: Final = Kind(
    404, 75, "State Not Found", "There is no state data at the address specified."
)
RECEIPT_NOT_FOUND: Final = Kind(
    404,
    80,
    "Transaction Receipt Not Found",
    "There is no transaction receipt for the transaction id specified in the receipt store.",
)
BODY_TOO_LARGE: Final = Kind(
    413, 200, "Body Too Large", "The request's body is larger than this node accepts, bytes: "
)
BODY_TOO_SLOW: Final = Kind(
    408, 201, "Body Too Slow", "The request's body did not arrive in time, seconds: "
)
CANNOT_WRITE: Final = Kind(
    503,
    202,
    "Ledger Cannot Write",
    "No block can be written at the moment; what is committed can be read. "
    "Submit again later. The cause: ",
)
DAMAGED: Final = Kind(
    503, 203, "Ledger Cannot Read", "What was asked for is stored and cannot be read: "
)
TOO_MANY_IDS: Final = Kind(
    400, 204, "Too Many Ids", "The request names more ids than this node accepts, at most: "
)
TOO_MANY_BATCHES: Final = Kind(
    413,
    205,
    "Too Many Batches",
    "The request holds more batches or transactions than this node accepts at once: ",
)
TOO_MANY_SUBSCRIBERS: Final = Kind(
    503, 206, "Too Many Subscribers", "This node serves no more subscribers at once than "
)
ANSWER_TOO_LARGE: Final = Kind(
    413,
    207,
    "Answer Too Large",
    "What these ids name is more than this node puts into one answer; ask for fewer. "
    "At most, bytes: ",
)
