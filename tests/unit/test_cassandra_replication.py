"""How many copies a keyspace shall have, and which consistency levels they can meet."""

import pytest
from cassandra import OperationTimedOut, ReadFailure, Unavailable
from cassandra.cluster import NoHostAvailable

from contracts.errors import RejectedError, UnavailableError
from gateway.blobstore import cassandra_config
from gateway.storagesettings import CassandraSettings
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.errors import reason
from storage.blobs.cassandra.replication import check_reachable, cql_of, wanted
from storage.blobs.cassandra.store import CassandraBlobs

SITES = {"site1", "site2", "site3"}
ONE_EACH = {"site1": 1, "site2": 1, "site3": 1}


def test_a_new_keyspace_has_a_copy_at_every_site_or_what_was_asked_for() -> None:
    assert wanted({}, None, SITES) == ONE_EACH
    assert wanted({"site1": 2}, None, SITES) == {"site1": 2}


def test_a_keyspace_grows_by_one_copy_and_never_shrinks() -> None:
    present = {"site1": 1, "site2": 1}
    assert wanted({}, present, SITES) == present
    assert wanted({"site1": 1}, present, SITES) == present
    assert wanted(ONE_EACH, present, SITES) == ONE_EACH
    assert wanted({"site1": 2}, present, SITES) == {"site1": 2, "site2": 1}
    with pytest.raises(RejectedError, match="grows by one copy at a time"):
        wanted({"site1": 2, "site3": 1}, present, SITES)


def test_a_data_centre_that_is_not_there_is_named() -> None:
    with pytest.raises(RejectedError, match=r"got \['site4', 'site5'\]"):
        wanted({"site5": 1, "site4": 1, "site1": 1}, None, SITES)


@pytest.mark.parametrize(
    ("level", "copies", "met"),
    [
        ("QUORUM", {"site2": 1}, True),
        ("ALL", {"site2": 1}, True),
        ("LOCAL_QUORUM", {"site1": 1, "site2": 1}, True),
        ("LOCAL_QUORUM", {"site2": 3}, False),
        ("LOCAL_ONE", {"site2": 3}, False),
        ("TWO", {"site1": 1, "site2": 1}, True),
        ("TWO", {"site1": 1}, False),
        ("THREE", {"site1": 1, "site2": 1}, False),
    ],
)
def test_a_level_is_held_against_the_copies(level: str, copies: dict[str, int], met: bool) -> None:  # noqa: FBT001
    if met:
        check_reachable("write_consistency", level, copies, "site1")
        return
    with pytest.raises(RejectedError, match=rf"cassandra\.write_consistency {level}: "):
        check_reachable("write_consistency", level, copies, "site1")


def test_names_are_quoted() -> None:
    assert cql_of({"it's": 1}) == "{'class': 'NetworkTopologyStrategy', 'it''s': 1}"


def test_the_settings_of_a_gateway_are_those_of_the_store() -> None:
    assert cassandra_config(CassandraSettings()) == CassandraConfig()
    settings = CassandraSettings(contact_points=["10.0.0.1"], in_flight=3, username="gateway")
    assert cassandra_config(settings) == CassandraConfig(
        ("10.0.0.1",), in_flight=3, username="gateway"
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"contact_points": ()}, "at least one"),
        ({"write_consistency": "SOME"}, "'SOME', expected one of ONE"),
        ({"replication": {"site1": 0}}, "at least 1 copy each"),
        ({"tls_key": "key.pem"}, "belong together"),
        ({"tls_key": "key.pem", "tls_certificate": "c.pem"}, "without tls_ca"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    wrong: dict[str, object], said: str
) -> None:
    with pytest.raises(RejectedError, match=said):
        CassandraConfig(**wrong)  # type: ignore[arg-type] # wrong on purpose


def test_a_name_that_nobody_knows_may_be_known_later() -> None:
    store = CassandraBlobs(CassandraConfig(("node.invalid",)))
    with pytest.raises(UnavailableError, match=r"can be resolved: node\.invalid"):
        store.check()
    store.close()


def test_the_reason_of_a_failure_fits_one_line() -> None:
    few = Unavailable("few", required_replicas=2, alive_replicas=1)
    rotten = ReadFailure("rot", required_responses=2, received_responses=1, failures=1)
    late = OperationTimedOut(last_host="10.0.0.1")
    assert reason(few) == "2 replicas needed, 1 alive"
    assert reason(rotten) == "2 replicas needed, 1 answered in time, 1 failed"
    assert reason(late) == "no answer in time from 10.0.0.1"
    assert reason(NoHostAvailable("none", {})) == "no node is up"
    several = NoHostAvailable("several", {"a": few, "b": OSError("line\nline")})
    assert reason(several) == "a: 2 replicas needed, 1 alive; b: line line"
