"""Whatever a client asks, the answer is JSON or a plain 404/405, and never a failure of ours."""

import asyncio
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from httpx import ASGITransport, AsyncClient, Response
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.engine.submissions import Submissions
from contracts.ledger.execution.verify import Verifier
from contracts.ledger.rest.app import build_app
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.ledger.solo.publisher import found
from support.ledgers.intkey_node import FAMILIES

SIGNER = Signer.from_hex("11" * 32)
TIMED_OUT = 17
"""The one answer with a 5xx: a start beyond the head, as recorded."""

texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["", "0", "1", "-1", "0x", "0x0", "0x1", "00", "false", "0" * 128, "ab" * 35]),
    st.integers().map(str),
)
names = st.sampled_from(["head", "start", "limit", "reverse", "id", "address", "count", "x"])
paths = st.one_of(
    st.sampled_from(
        ["/blocks", "/batches", "/transactions", "/state", "/receipts", "/batch_statuses", "/peers"]
    ),
    st.builds(
        lambda resource, name: f"/{resource}/{quote(name, safe='')}",
        st.sampled_from(["blocks", "batches", "transactions", "state", "x"]),
        texts,
    ),
)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    chain = Chain.open(tmp_path_factory.mktemp("queries"))
    found(chain, SIGNER, FAMILIES, [own_genesis(SIGNER, [SIGNER.public_key])])
    yield chain
    chain.close()


@settings(max_examples=300, deadline=None)
@given(paths, st.lists(st.tuples(names, texts), max_size=4), st.binary(max_size=20))
def test_any_question_has_an_answer(
    chain: Chain, path: str, query: list[tuple[str, str]], body: bytes
) -> None:
    for method in ("GET", "POST"):
        answer = asyncio.run(ask(chain, method, path, query, body))
        if answer.headers["content-type"].startswith("text/plain"):
            assert answer.status_code in (404, 405)
        elif answer.status_code >= 500:
            assert answer.json()["error"]["code"] == TIMED_OUT
        else:
            assert isinstance(answer.json(), dict)


async def ask(
    chain: Chain, method: str, path: str, query: list[tuple[str, str]], body: bytes
) -> Response:
    verifier = Verifier()
    submissions = Submissions(lambda _: None, lambda: None, lambda _: False)
    app = build_app(chain, submissions, verifier, Subscriptions(chain))
    kind = "application/octet-stream" if path == "/batches" else "application/json"
    async with AsyncClient(transport=ASGITransport(app), base_url="http://node") as client:
        answer = await client.request(
            method, f"{path}?{urlencode(query)}", content=body, headers={"Content-Type": kind}
        )
    verifier.close()
    return answer
