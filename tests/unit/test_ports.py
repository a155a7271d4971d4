"""Ports for servers that cannot choose their own."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.runtime import ports
from contracts.runtime.ports import KEPT, PORTS, free_port


def test_no_outgoing_connection_gets_a_port_before_its_server_listens() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(free_port() < first for _ in range(100))


def test_no_port_is_given_twice() -> None:
    given = [free_port(among=range(29_000, 29_500)) for _ in range(200)]
    assert len(set(given)) == 200


def test_a_port_that_is_taken_at_one_of_two_addresses_is_not_given() -> None:
    with socket.create_server(("127.0.0.2", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(
            UnavailableError, match=r"expected a port that is free at 127.0.0.1 and"
        ):
            free_port("127.0.0.1", "127.0.0.2", among=[port])
        assert free_port("127.0.0.1", among=[port]) == port


def test_the_address_of_another_machine_is_named() -> None:
    with pytest.raises(UnavailableError, match=r"cannot listen at 192.0.2.1: .*assign"):
        free_port("192.0.2.1", among=PORTS)


def test_a_process_that_needs_very_many_ports_gets_them_again() -> None:
    few = range(28_000, 28_010)
    assert {free_port(among=few) for _ in range(40)} <= set(few)


def test_no_other_process_is_given_a_port_before_its_server_listens() -> None:
    words = "from contracts.runtime.ports import free_port\nprint(free_port(), flush=True)\ninput()"
    command = [sys.executable, "-c", words]
    with subprocess.Popen(  # noqa: S603 - of this test
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        port = int(other.stdout.readline())
        with pytest.raises(UnavailableError, match=r"expected a port that is free"):
            free_port(among=[port])
        other.communicate("\n")
    assert free_port(among=[port]) == port


def test_a_process_keeps_its_newest_ports_only() -> None:
    for _ in range(2 * KEPT):
        free_port()
    assert len(ports._kept) == KEPT  # noqa: SLF001 - one descriptor for each
