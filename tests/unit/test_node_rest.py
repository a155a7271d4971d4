"""REST answers that the recordings do not show: orders, limits, errors, hostile requests."""

import asyncio
import threading
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient

from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine import submissions as submissions_module
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution import verify as verify_module
from contracts.ledger.execution.verify import AT_ONCE_BYTES, Verifier
from contracts.ledger.fromjson import batch_from_json, block_from_json
from contracts.ledger.pages import MEDIA_TYPE, Committed, decode_page
from contracts.ledger.rest import body as body_module
from contracts.ledger.rest import envelope as envelope_module
from contracts.ledger.rest.app import build_app
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.ledger.rest.views import receipt_view
from contracts.ledger.solo.publisher import found, publish
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch, build_transaction
from support.ledgers.intkey_node import FAMILIES, INTKEY, address_of
from support.ledgers.memory_engine import MemoryEngine
from support.ledgers.nodes import OCTETS, intkey, intkey_batch, naive_root
from support.ledgers.rest_api import (
    BLOCKS,
    JSON,
    SIGNER,
    Api,
    batches_of,
    code,
    names,
    page,
    queueing,
    wire,
)
from support.ledgers.walk import transactions_of


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    chain = Chain.open(tmp_path_factory.mktemp("rest"))
    found(chain, SIGNER, FAMILIES, [own_genesis(SIGNER, [SIGNER.public_key])])
    for number in range(1, BLOCKS):
        candidate = Candidate(chain, chain.state.get, FAMILIES)
        for batch in batches_of(number):
            assert candidate.add(batch) is None
        publish(chain, SIGNER, candidate)
    yield chain
    chain.close()


@pytest.fixture(scope="module")
def memory() -> MemoryEngine:
    engine = MemoryEngine(SIGNER, FAMILIES)
    for number in range(1, BLOCKS):
        engine.submit(batches_of(number), 0)
    return engine


@pytest.fixture
def solo(chain: Chain) -> Api:
    return Api(chain, lambda: queueing(chain))


@pytest.fixture(params=["solo", "memory"])
def api(request: pytest.FixtureRequest, chain: Chain, memory: MemoryEngine) -> Api:
    """The application on either engine: it must not tell them apart."""
    if request.param == "memory":
        return Api(memory, lambda: memory)
    return Api(chain, lambda: queueing(chain))


@pytest.mark.parametrize("resource", ["blocks", "batches", "transactions", "state"])
def test_pages_make_up_the_list_in_both_orders(api: Api, resource: str) -> None:
    whole = names(api, f"/{resource}?limit=1000")
    assert len(whole) == len(set(whole)) >= BLOCKS
    assert names(api, f"/{resource}?reverse") == whole[::-1]
    assert names(api, f"/{resource}?reverse=false") == whole
    for limit in (1, 2, 3):
        assert names(api, f"/{resource}?limit={limit}") == whole
        assert names(api, f"/{resource}?limit={limit}&reverse") == whole[::-1]


@pytest.mark.parametrize("resource", ["blocks", "batches", "transactions", "state"])
def test_pages_end_early_when_items_are_large(
    api: Api, resource: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = names(api, f"/{resource}")
    monkeypatch.setattr(envelope_module, "PAGE_BYTES", 1)
    assert len(api.get(f"/{resource}").json()["data"]) == 1
    assert names(api, f"/{resource}") == whole


@pytest.mark.parametrize("resource", ["blocks", "batches", "transactions", "state"])
def test_an_older_head_shows_the_list_as_it_was(api: Api, resource: str) -> None:
    heads = names(api, "/blocks")
    lists = [names(api, f"/{resource}?head={head}&limit=2") for head in heads]
    assert lists[0] == names(api, f"/{resource}")
    for newer, older in pairwise(lists):
        assert set(older) < set(newer)
    assert names(api, f"/{resource}?head={heads[1]}&reverse&limit=2") == lists[1][::-1]


def test_who_accepts_protocol_buffers_gets_blocks_with_their_receipts(api: Api) -> None:
    following: str | None = ""
    found: list[Committed] = []
    while following is not None:
        query = f"reverse&limit=3&start={following}" if following else "reverse&limit=3"
        answer = api.get(f"/blocks?{query}", headers={"Accept": f"{MEDIA_TYPE}, application/json"})
        assert answer.headers["content-type"] == MEDIA_TYPE
        blocks, following = decode_page(answer.content)
        found += blocks
    shown = api.get("/blocks?reverse").json()["data"]
    assert [committed.block for committed in found] == [block_from_json(one) for one in shown]
    for committed in found:
        names = [each.header_signature for each in transactions_of(committed)]
        told = api.post("/receipts", json=names).json()["data"]
        assert [receipt_view(receipt) for receipt in committed.receipts] == told


def test_who_accepts_protocol_buffers_gets_a_batch_as_signed(api: Api) -> None:
    for shown in api.get("/batches").json()["data"]:
        path = f"/batches/{shown['header_signature']}"
        answer = api.get(path, headers={"Accept": f"{MEDIA_TYPE}, application/json"})
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert Batch.FromString(answer.content) == batch_from_json(shown)
    missing = api.get(f"/batches/{'0' * 128}", headers={"Accept": MEDIA_TYPE})
    assert (missing.status_code, code(missing)) == (404, 71)


def test_half_a_character_is_repeated_as_it_came(api: Api) -> None:
    answer = api.post("/batch_statuses", content=b'["\\ud800"]', headers=JSON)
    assert answer.status_code == 400
    assert code(answer) == 60
    assert b'invalid: \\ud800"' in answer.content
    assert answer.headers["content-type"] == "application/json; charset=utf-8"


def test_ids_choose_in_their_own_order(api: Api) -> None:
    for resource in ("blocks", "batches", "transactions"):
        whole = names(api, f"/{resource}")
        chosen = [whole[2], whole[0]]
        query = ",".join([chosen[0], "0" * 128, chosen[1]])
        assert names(api, f"/{resource}?id={query}") == chosen
        oldest = names(api, "/blocks")[-1]
        assert names(api, f"/{resource}?head={oldest}&id={query}") == []
        if resource != "blocks":
            assert names(api, f"/{resource}?id={query}&reverse&limit=1") == chosen[::-1]
            assert code(api.get(f"/{resource}?id={query}&start={whole[1]}")) == 54


NOWHERE = "0" * 128


@pytest.mark.parametrize(
    ("path", "status", "number"),
    [
        ("/blocks?start=0x", 400, 54),
        ("/blocks?start=4", 400, 54),
        ("/blocks?start=0x-1", 400, 54),
        ("/blocks?start=0x" + "f" * 5_000, 400, 54),
        ("/blocks?start=0x4", 503, 17),
        ("/blocks?limit=0", 400, 53),
        ("/blocks?limit=2147483648", 400, 53),
        ("/blocks?limit=" + "9" * 5_000, 400, 53),
        ("/blocks?limit=", 400, 53),
        ("/blocks?head=", 400, 60),
        ("/blocks?id=", 400, 60),
        ("/blocks?reverse=header", 400, 57),
        ("/batches?reverse=block_num", 400, 57),
        ("/state?reverse=x", 400, 57),
        (f"/batches?start={NOWHERE}", 400, 54),
        (f"/transactions?head={NOWHERE}", 404, 50),
        (f"/state?head={NOWHERE}", 404, 70),
        ("/state?head=zz", 400, 60),
        ("/state?address=0", 400, 62),
        ("/state?address=AA", 400, 62),
        ("/state?address=" + "00" * 36, 400, 62),
        ("/state?start=" + "ab" * 35, 400, 54),
        (f"/state/{'00' * 35}?head={NOWHERE}", 404, 70),
        (f"/state/{'00' * 36}", 400, 62),
        (f"/state/{'00' * 35}", 404, 75),
        (f"/blocks/{NOWHERE}", 404, 70),
        ("/receipts?id=", 400, 60),
        (f"/receipts?id={NOWHERE}", 404, 80),
        ("/batch_statuses?id=", 400, 60),
    ],
)
def test_errors(api: Api, path: str, status: int, number: int) -> None:
    answer = api.get(path)
    assert (answer.status_code, code(answer)) == (status, number)
    assert answer.headers["content-type"] == "application/json; charset=utf-8"


def test_too_many_ids_are_refused(api: Api) -> None:
    answer = api.post("/receipts", json=[NOWHERE] * 1_001)
    assert (answer.status_code, code(answer)) == (400, 204)


@pytest.mark.parametrize(
    "content", [b"", b"[", b"[" * 100_000, b"\xff", b"null", b"[1]", b'["a", null]', b'"a"', b"{}"]
)
def test_bodies_that_are_no_list_of_ids(api: Api, content: bytes) -> None:
    for path, number in (("/batch_statuses", 46), ("/receipts", 82)):
        answer = api.post(path, content=content, headers=JSON)
        assert (answer.status_code, code(answer)) == (400, number)


def test_ids_of_too_much_are_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    block = api.get("/blocks").json()["data"][0]
    transaction = block["batches"][0]["transactions"][0]["header_signature"]
    paths = [f"/blocks?id={block['header_signature']}", f"/receipts?id={transaction}"]
    assert [api.get(path).status_code for path in paths] == [200, 200]
    monkeypatch.setattr(envelope_module, "ANSWER_BYTES_MAX", 10)
    refused = [api.get(path) for path in paths]
    assert [(answer.status_code, code(answer)) for answer in refused] == [(413, 207)] * 2


def test_content_types_are_exact(api: Api) -> None:
    assert code(api.post("/batches", content=b"x")) == 42
    assert code(api.post("/batch_statuses", content=b"[]")) == 43
    assert code(api.post("/receipts", content=b"[]")) == 81


def test_unknown_paths_and_methods_are_plain_text(api: Api) -> None:
    for path in ("/", "/blocks/", "/state/", "/blocks/a/b"):
        answer = api.get(path)
        assert (answer.status_code, answer.text) == (404, "404: Not Found")
    for how, path in (("PUT", "/batches"), ("POST", "/blocks")):
        (answer,) = api.ask((how, path, {}))
        assert (answer.status_code, answer.text) == (405, "405: Method Not Allowed")


def test_links_follow_what_a_proxy_says(api: Api) -> None:
    plain = api.get("/peers?b=1&a&head=x&b=2").json()
    assert plain["link"] == "http://node/peers?head=x&a&b=1"
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "h", "X-Forwarded-Path": "/p"}
    assert api.get("/peers", headers=headers).json()["link"] == "https://h/p/peers"
    forwarded = {"Forwarded": 'for=x; proto=https, host="h:1"; path=/q'}
    assert api.get("/peers", headers=forwarded).json()["link"] == "https://h:1/q/peers"


def test_receipts_tell_what_changed(api: Api) -> None:
    newest = names(api, "/transactions?limit=1000")[0]
    (receipt,) = api.get(f"/receipts?id={newest}").json()["data"]
    (change,) = receipt["state_changes"]
    assert (receipt["id"], change["type"]) == (newest, "SET")
    assert change["address"] == address_of("k30")
    genesis = names(api, "/transactions?limit=1000")[-1]
    (receipt,) = api.post("/receipts", json=[genesis]).json()["data"]
    assert receipt["events"][0]["event_type"] == "settings/update"
    assert "data" not in receipt["events"][0]


def submission(first: int) -> tuple[str, str, dict[str, Any]]:
    content = wire(intkey_batch(SIGNER, first))
    return ("POST", "/batches", {"content": content, "headers": OCTETS})


def test_a_full_queue_pushes_back(solo: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions_module, "QUEUED_BATCHES_MAX", 2)
    answers = solo.ask(*(submission(first) for first in range(100, 104)))
    assert [answer.status_code for answer in answers] == [202, 202, 429, 429]
    assert code(answers[-1]) == 31
    size = len(submission(100)[2]["content"])
    monkeypatch.setattr(submissions_module, "QUEUED_BATCHES_MAX", 100)
    monkeypatch.setattr(submissions_module, "QUEUED_BYTES_MAX", 2 * size + 50)
    answers = solo.ask(*(submission(first) for first in range(100, 104)))
    assert [answer.status_code for answer in answers] == [202, 202, 429, 429]


def test_what_is_refused_leaves_the_queue_as_it_was(
    solo: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions_module, "QUEUED_BATCHES_MAX", 1)
    good = submission(100)
    bad = bytearray(good[2]["content"])
    bad[-1] ^= 1
    refused = [
        ("POST", "/batches", {"content": content, "headers": OCTETS})
        for content in (b"", b"\xff", b"\x12\x00", bytes(bad), wire(Batch()))
    ]
    answers = solo.ask(*refused, *refused, good)
    assert [answer.status_code for answer in answers] == [400] * 10 + [202]
    assert [code(answer) for answer in answers[:5]] == [34, 35, 34, 30, 30]


def test_what_an_engine_decided_is_told() -> None:
    engine = MemoryEngine(SIGNER, FAMILIES)
    api = Api(engine, lambda: engine)
    good, bad = intkey_batch(SIGNER, 100), build_batch(SIGNER, [intkey(SIGNER, "inc", "x", 1)])
    submitted = api.post("/batches", content=wire(good, bad), headers=OCTETS).json()["link"]
    committed, invalid = api.get(f"{submitted}&wait=60").json()["data"]
    assert (committed["status"], invalid["status"]) == ("COMMITTED", "INVALID")
    (reason,) = invalid["invalid_transactions"]
    assert reason["message"] == 'Verb is "inc" but name "x" not in state'
    assert names(api, "/batches")[0] == good.header_signature
    head = api.get("/blocks?limit=1").json()["data"][0]["header"]
    state = {entry["address"]: b64decode(entry["data"]) for entry in page(api, "/state")}
    assert head["state_root_hash"] == naive_root(state)


HEADER = b"\x0a\x00"
"""An empty field 1: in a BatchList a batch, in a batch its header."""


@pytest.mark.parametrize("content", [HEADER * 4_001, HEADER * (8 << 20), b"\x12\x00" * (8 << 20)])
def test_more_batches_than_the_queue_takes_are_refused_unparsed(api: Api, content: bytes) -> None:
    answer = api.post("/batches", content=content, headers=OCTETS)
    assert (answer.status_code, code(answer)) == (413, 205)
    assert "more than 4000 batches" in answer.json()["error"]["message"]


def test_more_transactions_than_are_taken_at_once_are_refused_unparsed(api: Api) -> None:
    half = b"\x0a\xa2\x8d\x06" + b"\x1a\x00" * 50_001  # one batch of as many empty ones
    for content in (half, b"\x0a\x80\x80\x80\x06" + b"\x1a\x00" * (6 << 20)):
        answer = api.post("/batches", content=content, headers=OCTETS)
        assert (answer.status_code, code(answer)) == (413, 205)
        assert "more than 50000 transactions" in answer.json()["error"]["message"]


def test_the_event_loop_parses_nothing_large(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is parsed in the verifier's threads, so that others are answered meanwhile."""
    threads: list[str] = []
    parse = verify_module.parse_batches

    def listen(wire: bytes) -> list[Batch]:
        threads.append(threading.current_thread().name)
        return parse(wire)

    monkeypatch.setattr(verify_module, "parse_batches", listen)
    content = wire(intkey_batch(SIGNER, 100, 20))
    assert len(content) > AT_ONCE_BYTES
    large = ("POST", "/batches", {"content": content, "headers": OCTETS})
    for answer in Api(chain, lambda: queueing(chain)).ask(large, submission(100)):
        assert answer.status_code == 202
    assert [name.startswith("verify") for name in threads] == [True, False]


def test_a_transaction_with_too_many_addresses_is_refused(api: Api) -> None:
    many = build_transaction(
        SIGNER,
        INTKEY,
        b"",
        batcher_public_key=SIGNER.public_key,
        inputs=[""] * 10_001,
        outputs=[],
    )
    content = wire(build_batch(SIGNER, [many]))
    assert code(api.post("/batches", content=content, headers=OCTETS)) == 30


def test_a_batch_with_one_transaction_twice_is_refused(api: Api) -> None:
    (one,) = intkey_batch(SIGNER, 100).transactions
    content = wire(build_batch(SIGNER, [one, one]))
    assert code(api.post("/batches", content=content, headers=OCTETS)) == 30


def test_bodies_are_bounded_in_size_and_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(1 << 20)

    async def stuck() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    large = api.post("/batches", content=endless(), headers=OCTETS)
    assert (large.status_code, code(large)) == (413, 200)
    monkeypatch.setattr(body_module, "BODY_S", 0.01)
    slow = api.post("/batches", content=stuck(), headers=OCTETS)
    assert (slow.status_code, code(slow)) == (408, 201)


def test_submissions_keep_their_order(chain: Chain) -> None:
    """A large submission that arrived first is queued before a small one that arrived later."""
    order: list[str] = []

    def put(submission: Submission) -> None:
        order.extend(batch.id for batch in submission.batches)

    async def walk() -> list[str]:
        verifier = Verifier()
        app = build_app(chain, queueing(chain, put), verifier, Subscriptions(chain))
        large, small = intkey_batch(SIGNER, 1_000, 300), intkey_batch(SIGNER, 2_000)
        async with AsyncClient(transport=ASGITransport(app), base_url="http://node") as client:
            first = asyncio.create_task(
                client.post("/batches", content=wire(large), headers=OCTETS)
            )
            await asyncio.sleep(0)
            second = asyncio.create_task(
                client.post("/batches", content=wire(small), headers=OCTETS)
            )
            for answer in await asyncio.gather(first, second):
                assert answer.status_code == 202
        verifier.close()
        return [large.header_signature, small.header_signature]

    assert asyncio.run(walk()) == order
