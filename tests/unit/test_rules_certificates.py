"""Certificates of parties: who gives and revokes them."""

from contracts import address
from contracts.proto.payload_pb2 import (
    CertifyParty,
)
from contracts.proto.state_pb2 import Certificates
from contracts.rules.ids import Rule
from support.ledgers.hosts import Host, refused
from support.network.dairy import certificate, ready
from support.network.world import key, one


def certificates(host: Host) -> list[CertifyParty]:
    value = host.state(address.certificate("carrier", "GDP")) or b""
    return list(Certificates.FromString(value).by_authority)


def test_authorities_certify_and_revoke_each_its_own(host: Host) -> None:
    ready(host)
    agency, court = certificate(), certificate("court")
    host.apply(one(key("agency"), agency))
    host.apply(one(key("court"), court))
    longer = certificate(until_ms=99)
    host.apply(one(key("agency"), longer))
    assert certificates(host) == [court, longer]
    gone = certificate("court", revoked=True)
    host.apply(one(key("court"), gone))
    assert certificates(host) == [longer, gone]


def test_who_may_certify(host: Host) -> None:
    ready(host)
    assert refused(host, one(key("dairy"), certificate("dairy"))) is Rule.ROLE_MISSING
    assert refused(host, one(key("dairy"), certificate("agency"))) is Rule.NOT_THE_PARTY
    unknown = CertifyParty(party_id="agency", holder_id="nobody", kind="GDP")
    assert refused(host, one(key("agency"), unknown)) is Rule.UNKNOWN_PARTY
    revoked = certificate(revoked=True)
    assert refused(host, one(key("agency"), revoked)) is Rule.CERTIFICATE_UNKNOWN
    assert refused(host, one(key("agency"), certificate(until_ms=0))) is Rule.FORM
