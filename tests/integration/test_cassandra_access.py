"""Login and TLS: what is right works, and each thing that is wrong is named at the start."""

import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.servers.cassandra.cluster import SUPERUSER, Cluster
from storage.bench.servers.cassandra.config import Tls
from storage.blobs.cassandra.config import CassandraConfig
from support.storage.blobsuite import blob, recording
from support.storage.cassandras import (
    config_of,
    cql,
    make_authority,
    make_cassandra,
    make_certificate,
    opened,
    wait_until_it_works,
)
from support.trucks.rogue import until

pytestmark = pytest.mark.integration
ACCEPT_S = 20
PASSWORD = "only-for-this-test"  # noqa: S105 - of a server that lives as long as a test


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("tls"), "authority")


@pytest.fixture(scope="module")
def guarded(authority: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a server that asks for a login, and for clients' certificates."""
    certificate, key = make_certificate(authority, "node", "127.0.0.1")
    keystore = authority.parent / "node-keystore.pem"
    keystore.write_bytes(key.read_bytes() + certificate.read_bytes())
    made = make_cassandra(
        tmp_path_factory.mktemp("guarded"), authentication=True, tls=Tls(keystore, authority)
    )
    with made as cluster:
        yield cluster


@pytest.fixture(scope="module")
def right(guarded: Cluster, authority: Path) -> CassandraConfig:
    """Return settings of a role that may only use a keyspace of its own."""
    certificate, key = make_certificate(authority, "gateway")
    config = config_of(
        guarded,
        "guarded",
        username=SUPERUSER,
        password=SUPERUSER,
        tls_ca=authority,
        tls_certificate=certificate,
        tls_key=key,
    )
    with opened(config) as store:  # the first role is made some time after the start
        wait_until_it_works(store)
    return config


def refused(config: CassandraConfig) -> str:
    with opened(config) as store, pytest.raises(RejectedError) as raised:
        store.check()
    return str(raised.value)


def test_login_and_tls_work(right: CassandraConfig) -> None:
    with opened(right) as store:
        data = blob(0, bytes(range(256)) * 4096)
        store.put(recording("tls"), data)
        assert store.get(recording("tls"), 0) == data
        assert [replica.blob for replica in store.replicas(recording("tls"), 0)] == [data]


def test_a_wrong_login_is_named(right: CassandraConfig) -> None:
    for wrong in (
        replace(right, password=PASSWORD),
        replace(right, username="nobody"),
        replace(right, username=""),
    ):
        said = refused(wrong)
        assert said.startswith("Cassandra refuses this user name and password: ")


def test_a_role_without_rights_is_named(right: CassandraConfig) -> None:
    with cql(right) as session:
        session.execute(f"CREATE ROLE bystander WITH PASSWORD = '{PASSWORD}' AND LOGIN = true")
    said = refused(replace(right, username="bystander", password=PASSWORD, keyspace="theirs"))
    assert said.startswith("Cassandra refuses to create keyspace theirs: ")


def test_a_role_with_rights_on_its_keyspace_suffices(right: CassandraConfig) -> None:
    with cql(right) as session:
        for statement in (
            f"CREATE ROLE gateway WITH PASSWORD = '{PASSWORD}' AND LOGIN = true",
            "GRANT ALL PERMISSIONS ON KEYSPACE guarded TO gateway",
        ):
            session.execute(statement)
    with opened(replace(right, username="gateway", password=PASSWORD)) as store:
        store.check()
        store.put(recording("role"), blob(0, b"data"))
        assert [each.blob for each in store.replicas(recording("role"), 0)] == [blob(0, b"data")]
        store.delete(recording("role"))


def test_a_node_by_another_authority_is_refused(right: CassandraConfig, authority: Path) -> None:
    other = make_authority(authority.parent, "other")
    said = refused(replace(right, tls_ca=other))
    assert said.startswith("the certificate of Cassandra node 127.0.0.1 is not valid under")


def test_a_gateways_certificate_makes_no_node(right: CassandraConfig) -> None:
    """One of the same authority, without the address that we connect to."""
    impostor = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    impostor.load_cert_chain(str(right.tls_certificate), right.tls_key)
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        listener.settimeout(ACCEPT_S)
        shown = pool.submit(show_certificates, listener, impostor)
        said = refused(replace(right, port=listener.getsockname()[1]))
        listener.shutdown(socket.SHUT_RDWR)
        shown.result()
    assert "is not valid under cassandra.tls_ca" in said


def show_certificates(listener: socket.socket, context: ssl.SSLContext) -> None:
    """Be a node, as far as the handshake, until the listener is closed."""
    with suppress(OSError):
        while True:
            connection = listener.accept()[0]
            with suppress(OSError), context.wrap_socket(connection, server_side=True):
                pass


def test_without_our_certificate_nothing_works(right: CassandraConfig) -> None:
    def said() -> str:  # a node that ends the connection first has said nothing yet
        with (
            opened(replace(right, tls_certificate=None, tls_key=None)) as store,
            pytest.raises((RejectedError, UnavailableError)) as raised,
        ):
            store.check()
        return str(raised.value)

    until("a reason", lambda: "cassandra.tls_certificate" in said())


def test_plain_against_tls_and_tls_against_plain_are_named(
    right: CassandraConfig, cassandra: Cluster
) -> None:
    plain = replace(right, tls_ca=None, tls_certificate=None, tls_key=None)
    assert "cassandra.tls_ca is not set, but the node wants TLS" in refused(plain)
    tls = replace(config_of(cassandra, "plain"), tls_ca=right.tls_ca)
    assert "cassandra.tls_ca is set, but the node answers without TLS" in refused(tls)


def test_certificates_that_cannot_be_used_are_named(right: CassandraConfig, tmp_path: Path) -> None:
    (tmp_path / "broken.pem").write_text("no certificate\n")
    assert "broken.pem" in refused(replace(right, tls_ca=tmp_path / "broken.pem"))
    assert "gone.pem" in refused(replace(right, tls_key=tmp_path / "gone.pem"))
