"""What a development Cassandra is told at its start."""

import json
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.servers.cassandra.config import (
    NodePlace,
    Options,
    Ports,
    Tls,
    initial_token,
    write_config,
)

PORTS = Ports(native=9042, storage=7000, jmx=(7199,))


def yaml_of(directory: Path, options: Options) -> dict[str, object]:
    write_config(directory, NodePlace("127.0.0.2", "site2", "r1"), options, PORTS, ["127.0.0.1"], 5)
    text = (directory / "cassandra.yaml").read_text("utf-8")
    loaded: dict[str, object] = json.loads(text)
    return loaded


def test_a_write_is_durable_unless_chosen_otherwise(tmp_path: Path) -> None:
    assert yaml_of(tmp_path, Options())["commitlog_sync"] == "batch"
    chosen = yaml_of(tmp_path, Options(commitlog_sync="periodic", yaml={"num_tokens": 4}))
    assert chosen["commitlog_sync_period"] == "10000ms"
    assert chosen["num_tokens"] == 4
    assert (tmp_path / "rackdc.properties").read_text() == "dc=site2\nrack=r1\n"


def test_login_and_tls_are_asked_for_when_chosen(tmp_path: Path) -> None:
    plain = yaml_of(tmp_path, Options())
    assert not {"authenticator", "client_encryption_options"} & plain.keys()
    tls = Tls(tmp_path / "server.pem", tmp_path / "ca.pem")
    both = yaml_of(tmp_path, Options(authentication=True, tls=tls))
    assert both["authenticator"] == "PasswordAuthenticator"
    encryption = both["client_encryption_options"]
    assert isinstance(encryption, dict)
    assert encryption["keystore"] == str(tls.keystore)
    assert (encryption["truststore"], encryption["require_client_auth"]) == (
        str(tls.clients_ca),
        True,
    )


def test_tokens_are_even_and_all_different() -> None:
    tokens = [initial_token(index, 3) for index in range(7)]
    assert len(set(tokens)) == 7
    assert tokens[1] - tokens[0] == tokens[2] - tokens[1]
    assert all(-(1 << 63) <= token < 1 << 63 for token in tokens)


def test_a_heap_that_cannot_work_is_refused() -> None:
    with pytest.raises(RejectedError, match="at least 256 MB, got 64"):
        Options(heap_mb=64)
