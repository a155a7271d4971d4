"""Which NVMe-oF connections can be asked for, on each transport."""

from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError
from storage.drives.nvme import Controller, Timeouts, controller
from storage.drives.targets import ConnectOptions, Reconnect, Target, WantedConnection
from support.machine.sysfs import Machine

NQN = "nqn.2026-01.example:video"
THERE = "nn-0x20000025b5100000:pn-0x20000025b5100001"
HERE = "nn-0x200000109b579ef5:pn-0x100000109b579ef5"


def made(address: str, transport: str = "tcp") -> Controller:
    parts = dict(part.split("=", 1) for part in address.split(","))
    return Controller("nvme1", NQN, transport, "live", parts, Timeouts(), "", "", "")


def test_fibre_channel_needs_both_ports() -> None:
    target = Target("fc", THERE, "", NQN, HERE)
    assert target.is_of(made(f"traddr={THERE},host_traddr={HERE}", "fc"))
    other = HERE.replace("9ef5", "9ef6")
    assert not target.is_of(made(f"traddr={THERE},host_traddr={other}", "fc"))


@pytest.mark.parametrize(
    ("transport", "address", "host_traddr", "host_iface", "complaint"),
    [
        (
            "fc",
            THERE,
            "",
            "",
            "host-traddr: fc needs a port's names, .* got ''; /sys/class/fc_h",
        ),
        ("fc", "192.168.7.2", HERE, "", "address: fc needs a port's names"),
        ("fc", THERE, HERE, "eth0", "host-iface: only tcp has it"),
        ("rdma", "192.168.7.2", "", "eth0", "host-iface: only tcp has it"),
        ("rdma", "192.168.7.2", HERE, "", "host-traddr: expected an IP address, got 'nn-0x"),
        ("tcp", "192.168.7.2", "truck", "", "host-traddr: expected an IP address, got 'truck'"),
        ("tcp", "192.168.7.2", "", "a-name-of-16-byt", "host-iface: expected a network card"),
        ("tcp", "192.168.7.2", "", "eth0,tls", "host-iface: expected a network card"),
        ("tcp", "192.168.7.2,tls", "", "", "expected no comma in an address"),
    ],
)
def test_what_a_transport_cannot_have_is_one_clear_error(
    transport: str, address: str, host_traddr: str, host_iface: str, complaint: str
) -> None:
    with pytest.raises(RejectedError, match=complaint):
        Target(
            transport, address, "" if transport == "fc" else "4420", NQN, host_traddr, host_iface
        )


@pytest.mark.parametrize("wrong", [{"hdr_digest": True}, {"data_digest": True}, {"tls": True}])
@pytest.mark.parametrize("transport", ["rdma", "fc"])
def test_digests_and_tls_are_of_tcp(transport: str, wrong: dict[str, Any]) -> None:
    target = (
        Target("fc", THERE, "", NQN, HERE)
        if transport == "fc"
        else Target("rdma", "192.168.7.2", "4420", NQN)
    )
    with pytest.raises(RejectedError, match="digests and TLS: only tcp has them"):
        WantedConnection(target, Reconnect(), ConnectOptions(**wrong))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"io_queues": -1}, "I/O queues: expected 0 to 65535, got -1"),
        ({"iopolicy": "best"}, "iopolicy 'best': expected numa, round-robin, queue-depth"),
        ({"dhchap_ctrl_secret_file": "/a"}, "needs the host's secret beside it"),
        ({"tls_key_file": "/a"}, "expected tls to be on"),
        ({"dhchap_secret_file": "a"}, "expected an absolute path, got 'a'"),
    ],
)
def test_options_that_make_no_sense(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RejectedError, match=complaint):
        ConnectOptions(**wrong)


@pytest.mark.parametrize(
    ("host_traddr", "host_iface", "theirs", "same"),
    [
        ("", "", "", True),
        ("", "", ",host_traddr=192.168.7.9,host_iface=eth1", True),
        ("192.168.7.9", "", ",src_addr=192.168.7.9", True),
        ("192.168.7.9", "", ",host_traddr=192.168.7.9,src_addr=192.168.7.9", True),
        ("192.168.7.9", "", ",src_addr=192.168.7.8", False),
        ("", "eth1", ",host_iface=eth1", True),
        ("", "eth1", ",host_iface=eth2", False),
        ("", "eth1", ",src_addr=192.168.7.9", True),
    ],
)
def test_a_connection_of_another_program_is_recognised(
    host_traddr: str, host_iface: str, theirs: str, *, same: bool
) -> None:
    target = Target("tcp", "192.168.7.2", "4420", NQN, host_traddr, host_iface)
    assert target.is_of(made(f"traddr=192.168.7.2,trsvcid=4420{theirs}")) is same


def test_what_sysfs_tells_of_a_connection(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    address = "traddr=192.168.7.2,trsvcid=4420,host_iface=eth1,src_addr=192.168.7.9"
    keys = {"dhchap_secret": "DHHC-1:00:x:", "tls_key": "3a1f2b4c"}
    place = machine.controller("nvme1", NQN, address, queue_count=5, **keys)
    told = controller(tmp_path / "sys" / place)
    assert (told.io_queues, told.dhchap, told.tls) == (4, True, True)
    no_keys = {"dhchap_secret": "none", "tls_key": "00000000"}
    machine.set("nvme1", **no_keys)
    told = controller(tmp_path / "sys" / place)
    assert (told.dhchap, told.tls) == (False, False)
