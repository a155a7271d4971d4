"""Rows of the table of actions: parties, their keys, sites, devices and certificates."""

from typing import Final

from contracts import address
from contracts.actions import form, goods
from contracts.actions.kind import ActionKind, SignedBy, party
from contracts.proto.payload_pb2 import (
    CertifyParty,
    KeyDuties,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    RotateKeys,
)
from contracts.rules import certificates, parties


def _party_and_keys(action: RegisterParty | RotateKeys) -> list[str]:
    return [address.party(action.party_id), address.KEY_PREFIX]


def _about_party(action: RegisterParty | RotateKeys) -> list[str]:
    return [f"party {action.party_id}"]


ROWS: Final = (
    ActionKind(
        RegisterParty,
        SignedBy.ADMINISTRATOR,
        check=form.check_party,
        check_1_1=goods.check_party_duties,
        reads=lambda _: [address.setting(address.ADMIN_KEYS_SETTING)],
        writes=_party_and_keys,
        rule=parties.register_party,
        subjects=_about_party,
    ),
    ActionKind(
        RotateKeys,
        SignedBy.PARTY,
        duty=KeyDuties.KEYS,
        check=form.check_rotation,
        check_1_1=goods.check_added_duties,
        writes=_party_and_keys,
        rule=parties.rotate_keys,
        subjects=_about_party,
    ),
    ActionKind(
        RegisterSite,
        SignedBy.PARTY,
        duty=KeyDuties.REGISTRY,
        check=form.check_site,
        check_1_1=goods.check_place,
        reads=party,
        writes=lambda site: [address.site(site.site_id)],
        rule=parties.register_site,
        subjects=lambda site: [f"site {site.site_id}"],
    ),
    ActionKind(
        RegisterDevice,
        SignedBy.PARTY,
        duty=KeyDuties.REGISTRY,
        check=form.check_device,
        reads=party,
        writes=lambda device: [address.device(device.device_id), address.KEY_PREFIX],
        rule=parties.register_device,
        subjects=lambda device: [f"device {device.device_id}"],
    ),
    ActionKind(
        CertifyParty,
        SignedBy.PARTY,
        duty=KeyDuties.EVIDENCE,
        check=goods.check_certificate,
        reads=lambda said: [address.party(said.party_id), address.party(said.holder_id)],
        writes=lambda said: [address.certificate(said.holder_id, said.kind)],
        rule=certificates.certify_party,
        subjects=lambda said: [f"certificate {said.holder_id} {said.kind}"],
    ),
)
