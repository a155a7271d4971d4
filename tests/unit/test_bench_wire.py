"""The loader's own HTTP: what it takes from a server, and what is refused."""

import asyncio
from contextlib import suppress

import pytest

from contracts.errors import UnavailableError
from storage.bench.ledger.wire import JSON, Connection

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def ended(writer: asyncio.StreamWriter) -> None:
    """Close a server's end, whatever the client did with its own."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def asked(*answers: bytes) -> list[tuple[int, bytes]]:
    """Ask a server, on one connection as long as it holds, that gives these answers."""
    left, done = list(answers), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(left.pop(0))
        await ended(writer)
        done.set()

    async def run() -> list[tuple[int, bytes]]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            connection = await Connection.open(
                f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            )
            try:
                async with asyncio.timeout(5):
                    return [await connection.post("/", JSON, b"") for _ in answers]
            finally:
                connection.close()
                await done.wait()

    return asyncio.run(run())


def test_a_trailer_is_no_part_of_the_next_answer() -> None:
    trailed = CHUNKED + b"3;x=y\r\nabc\r\n0\r\nExpires: never\r\nOther: word\r\n\r\n"
    assert asked(trailed, PLAIN, trailed) == [(200, b"abc"), (200, b"ok"), (200, b"abc")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (CHUNKED + b"-5\r\n", "octets, got size b'-5'"),
        (CHUNKED + b"zz\r\n", "octets, got size b'zz'"),
        (CHUNKED + b"fffffffff\r\n", "octets, got size b'fffffffff'"),
        (CHUNKED + b"1\r\na\r\n4000000\r\n", "octets, got size b'4000000'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "octets, got size b'-1'"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "octets, got size"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "octets, got size b'many'"),
        (b"HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\nok", "expected an answer with a length"),
        (b"hello\r\nContent-Length: 2\r\n\r\nok", "expected an answer with a length"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "expected an answer with a length"),
    ],
)
def test_what_is_no_answer_or_has_no_end_is_refused(answer: bytes, words: str) -> None:
    with pytest.raises(UnavailableError, match=words):
        asked(answer)


def test_the_connection_after_a_broken_answer_is_a_new_one() -> None:
    """What is left of an answer would be taken for the next one."""

    async def run() -> bytes:
        done = asyncio.Semaphore(0)
        answers = [CHUNKED + b"zz\r\n" + PLAIN, PLAIN.replace(b"ok", b"ha")]

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answers.pop(0))
            await reader.read()
            await ended(writer)
            done.release()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            connection = Connection(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            with pytest.raises(UnavailableError):
                await connection.post("/", JSON, b"")
            found = await connection.post("/", JSON, b"")
            connection.close()
            for _ in range(2):
                await done.acquire()
            return found[1]

    assert asyncio.run(run()) == b"ha"
