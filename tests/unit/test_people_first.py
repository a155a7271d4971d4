"""Threads of an offload wait for answers, within a bound, and for nothing that is no answer."""

import asyncio
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import RejectedError
from gateway.access import Role
from gateway.api.app import build_app
from gateway.api.peoplefirst import ANSWER_MAX_S, NEXT_S, PeopleFirst
from gateway.brokersettings import MqttSettings
from gateway.commands import serve
from gateway.intake import broker
from gateway.peoplefirst import WAIT_MAX_S, Answers, GivingWay
from gateway.restsettings import RestSettings
from gateway.services import Services
from gateway.settings import Settings

START: Message = {"type": "http.response.start", "status": 200, "headers": []}
BODY: Message = {"type": "http.response.body", "body": b""}


class SlowAnswers(Answers):
    """Answers on a clock of their own, which `work` and waits move.

    Attributes:
        now_s: The clock.
        waited_s: In all waits so far.
        lasts_s: How long an answer takes from when a thread waits for it.
    """

    def __init__(self, lasts_s: float) -> None:
        super().__init__()
        self.begin()
        self.now_s = 100.0
        self.waited_s = 0.0
        self.lasts_s = lasts_s

    def wait(self, timeout_s: float) -> None:
        assert 0 <= timeout_s <= WAIT_MAX_S
        took_s = min(timeout_s, self.lasts_s)
        self.now_s += took_s
        self.waited_s += took_s


def scope(path: str, method: str = "GET", token: str = "") -> Scope:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {token}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
        "root_path": "",
        "http_version": "1.1",
    }


async def silent() -> Message:
    """Receive nothing: the client waits."""
    await asyncio.sleep(3600)
    return {"type": "http.disconnect"}


async def after(seconds: float) -> None:
    """Let pass all timers of the loop that are due until then."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, passed.set)
    await passed.wait()


async def unheard(_: Message) -> None:
    """Send to nobody."""


def counted(app: ASGIApp, asked: Scope) -> list[int]:
    """Return how many answers count in the application, at each message, and a moment after."""
    answers, seen = Answers(), []

    async def send(_: Message) -> None:
        seen.append(answers.count)

    async def within(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(answers.count)
        await app(scope, receive, send)

    async def asking() -> None:
        try:
            await PeopleFirst(within, answers)(asked, silent, send)
        except ValueError:
            seen.append(-1)
        await after(2 * NEXT_S)
        seen.append(answers.count)

    asyncio.run(asking())
    return seen


async def answering(_: Scope, __: Receive, send: Send) -> None:
    await send(START)
    await send(BODY)


async def failing(*_: object) -> None:
    raise ValueError


def test_an_answer_counts_until_a_moment_after_its_head_is_sent() -> None:
    assert counted(answering, scope("/v1/trips")) == [1, 1, 1, 0]


def test_an_answer_that_fails_counts_no_longer() -> None:
    assert counted(failing, scope("/v1/trips")) == [1, -1, 0]


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/uploads/ab", "HEAD"),
        ("/v1/uploads/ab", "PATCH"),
        ("/v1/trips/ab/verify", "POST"),
        ("/health", "GET"),
        ("/metrics", "GET"),
        ("/.well-known/est/cacerts", "GET"),
    ],
)
def test_trucks_and_watchers_and_bodies_do_not_count(path: str, method: str) -> None:
    assert counted(answering, scope(path, method)) == [0, 0, 0, 0]


def test_an_answer_whose_client_leaves_counts_no_longer() -> None:
    answers, begun = Answers(), asyncio.Event()

    async def app(*_: object) -> None:
        begun.set()
        await asyncio.sleep(3600)

    async def asking() -> None:
        task = asyncio.create_task(PeopleFirst(app, answers)(scope("/v1/trips"), silent, unheard))
        await begun.wait()
        assert answers.count == 1
        task.cancel()
        await asyncio.wait([task])
        await after(2 * NEXT_S)

    asyncio.run(asking())
    assert answers.count == 0


def test_a_slow_answer_counts_for_a_while_and_once() -> None:
    answers = Answers()

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await after(ANSWER_MAX_S)
        while answers.count:
            await after(NEXT_S)
        await answering({}, silent, send)

    async def asking() -> None:
        async with asyncio.timeout(60):
            await PeopleFirst(app, answers)(scope("/v1/evidence"), silent, unheard)
            await after(2 * NEXT_S)

    asyncio.run(asking())
    assert answers.count == 0


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with closing(Services(Settings(data=tmp_path / "gateway", site_id="site-b"))) as made:
        yield made


def test_an_open_stream_of_events_does_not_count(services: Services) -> None:
    token = services.people.tokens.add("auditor", Role.AUDITOR)
    app, heads = build_app(services), []

    async def asking() -> None:
        open_ = asyncio.Event()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                heads.append(message["status"])
            else:
                open_.set()

        task = asyncio.create_task(app(scope("/v1/changes", token=token), silent, send))
        await open_.wait()
        await after(2 * NEXT_S)
        assert not task.done()
        assert services.answers.count == 0
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(asking())
    assert heads == [200]


def test_a_thread_of_an_offload_waits_for_an_answer_to_end() -> None:
    waits, ended = threading.Event(), threading.Event()

    class Patient(Answers):
        def wait(self, timeout_s: float) -> None:
            assert timeout_s <= WAIT_MAX_S
            waits.set()
            super().wait(3600)

    answers = Patient()
    answers.begin()
    answers.begin()
    give_way = GivingWay(answers)

    def work() -> None:
        give_way()
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert waits.wait(30)
    answers.end()
    assert not ended.is_set()
    answers.end()
    assert ended.wait(30)
    thread.join()
    give_way()  # with no answer it returns at once, and asks for no wait
    assert answers.count == 0


def test_every_part_of_an_offload_gives_way(services: Services) -> None:
    parts = (services.intake, services.saga, services.follower)
    assert len({id(part.give_way) for part in parts}) == len(parts)
    assert all(isinstance(part.give_way, GivingWay) for part in parts)


def test_the_embedded_broker_gives_way_to_the_answers_of_its_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Heard:
        port = 1

        def __init__(self, _host: str, _port: int, _access: object, give_way: GivingWay) -> None:
            ways.append(give_way)

        def close(self) -> None:
            """Nothing was opened."""

    def stop(_settings: Settings, answers: Answers) -> None:
        monkeypatch.setattr(answers, "wait", waited.append)
        answers.begin()
        for give_way in ways:
            give_way()
        raise RejectedError("far enough")

    settings = Settings(
        site_id="site-b",
        data=tmp_path,
        rest=RestSettings(port=0),
        mqtt=MqttSettings(embedded=True),
    )
    ways: list[GivingWay] = []
    waited: list[float] = []
    monkeypatch.setattr(broker, "EmbeddedBroker", Heard)
    monkeypatch.setattr(serve, "Services", stop)
    with pytest.raises(RejectedError, match="far enough"):
        serve.run(Namespace(), settings)
    assert len(waited) == 1


@given(
    lasts_s=st.sampled_from([0.0, 0.01, WAIT_MAX_S, 3600.0]),
    works_s=st.lists(st.floats(0, 1), max_size=30),
)
def test_an_offload_never_waits_longer_than_it_works(lasts_s: float, works_s: list[float]) -> None:
    answers = SlowAnswers(lasts_s)
    give_way = GivingWay(answers, lambda: answers.now_s)
    worked_s = 0.0
    for work_s in works_s:
        answers.now_s += work_s
        worked_s += work_s
        give_way()
        assert answers.waited_s <= worked_s + 1e-6
