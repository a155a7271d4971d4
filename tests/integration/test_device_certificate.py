"""A truck gets a certificate for a claim, offloads with it, renews it, and is shut out with it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from gateway.pki import authority as authority_module
from support.gateways.appliance import SecuredAppliance
from support.machine.pki import Pki
from support.machine.private import write_private
from support.trucks.rogue import Site, running_site
from support.trucks.truck import Truck, write_log

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, pki: Pki) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(pki.ca))  # for what the test itself asks
        with running_site(
            directory, SecuredAppliance(directory), variables=pki.variables()
        ) as made:
            yield made


@pytest.fixture
def truck(site: Site, tmp_path: Path) -> Truck:
    made = site.appliance
    return Truck(
        tmp_path / "truck",
        f'[[gateways]]\nsite_id = "site-b"\nmqtt = "{made.mqtt}"\nrest = "{made.rest}"\n'
        f'public_keys = ["{made.gateway_key()}"]\ngenesis_block_id = "{made.genesis_block_id()}"\n',
    )


def claim(site: Site) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        [
            Path(sys.executable).with_name("wayseal-gateway"),
            *("enrol", "--claim", "truck-1", "--config", str(site.appliance.settings_file)),
        ],
        capture_output=True,
        check=True,
        env=site.appliance.variables,
        text=True,
    )
    return str(json.loads(done.stdout)["claim"])


def certificate(truck: Truck) -> x509.Certificate:
    return x509.load_pem_x509_certificate((truck.data / "tls" / "device.crt").read_bytes())


def test_a_claim_is_all_that_a_truck_needs_and_the_certificate_renews_itself(
    site: Site, pki: Pki, truck: Truck, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = claim(site)
    other = f"{told.partition('.')[0]}.{'0' * 64}"
    code, _, err = truck.run("enrol", "--claim", other)
    assert code == 1
    assert "somebody claims to be the gateway" in err
    assert not (truck.data / "tls" / "device.crt").exists()
    code, out, err = truck.run("enrol", "--claim", told)
    assert code == 0, err
    assert "has a certificate" in out
    assert "site site-b admits it" in out
    code, _, err = truck.run("enrol", "--claim", told)
    assert code == 1
    assert "expected the claim code" in err
    for name in ("device.key", "device.crt", "ca.crt"):
        assert (truck.data / "tls" / name).stat().st_mode & 0o777 == 0o600
    truck.must("record", "--readings", write_log(truck.folder / "first.csv", 12))
    code, _, err = truck.run("offload")
    assert code == 0, err
    first = certificate(truck)
    assert "is renewed" not in err
    # The same certificate as if it had been made 61 days ago.
    then = datetime.now(UTC).replace(microsecond=0) - timedelta(days=61)
    with monkeypatch.context() as patched:
        patched.setattr(authority_module, "utc_now", lambda: then)
        public = first.public_key()
        made = pki.authority.sign(public, "truck-1")  # type: ignore[arg-type] # it is an EC key
    pem = made.public_bytes(Encoding.PEM).decode()
    write_private(truck.data / "tls" / "device.crt", pem)
    truck.must("record", "--readings", write_log(truck.folder / "second.csv", 24))
    code, _, err = truck.run("offload")
    assert code == 0, err
    assert "the certificate of this device is renewed" in err
    renewed = certificate(truck)
    assert renewed.public_key() == public
    assert renewed.not_valid_after_utc - datetime.now(UTC) > timedelta(days=89)


def test_a_revoked_truck_is_shut_out(site: Site, pki: Pki, truck: Truck) -> None:
    code, _, err = truck.run("enrol", "--claim", claim(site))
    assert code == 0, err
    code, out, err = truck.run("check-config")
    assert "knows the token" in out, out + err
    pki.authority.revoke(["truck-1"])
    assert site.appliance.gateway is not None
    site.appliance.gateway.process.send_signal(1)
    code, out, _ = truck.run("check-config")
    assert code == 1
    assert "knows the token" not in out


@pytest.mark.parametrize("told", ["", "ABC", f"ABC.{'g' * 64}", f"A B.{'0' * 64}"])
def test_what_is_no_claim_is_not_repeated(truck: Truck, told: str) -> None:
    code, _, err = truck.run("enrol", f"--claim={told}")
    assert code == 1
    assert "expected a claim as `wayseal-gateway enrol --claim` prints it" in err
    assert not told or told not in err


@pytest.fixture
def apart(tmp_path: Path, pki: Pki) -> Iterator[Site]:
    """Yield a site where trucks have another authority than servers."""
    trucks = Pki(tmp_path / "trucks")
    variables = pki.variables() | {
        "WAYSEAL_TLS__CA": str(trucks.ca),
        "WAYSEAL_TLS__CRL": str(trucks.crl),
        "WAYSEAL_PKI__FOLDER": str(trucks.folder),
    }
    directory = tmp_path / "site"
    directory.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(pki.ca))  # for what the test itself asks
        with running_site(directory, SecuredAppliance(directory), variables=variables) as made:
            yield made


def test_trucks_may_have_an_authority_of_their_own(apart: Site, pki: Pki, tmp_path: Path) -> None:
    made, own = apart.appliance, tmp_path / "truck" / "data" / "tls"
    shows = f'tls_certificate = "{own}/device.crt"\ntls_key = "{own}/device.key"\n'
    table = (
        f'[[gateways]]\nsite_id = "site-b"\nmqtt = "{made.mqtt}"\nrest = "{made.rest}"\n'
        f'public_keys = ["{made.gateway_key()}"]\ngenesis_block_id = "{made.genesis_block_id()}"\n'
    )
    told = claim(apart)
    stranger = Pki(tmp_path / "stranger")
    for authority, words in ((stranger.ca, "certificate verify failed"), (own, "tls_ca: ")):
        code, _, err = Truck(tmp_path / "truck", f'{table}tls_ca = "{authority}"\n{shows}').run(
            "enrol", "--claim", told
        )
        assert code == 1
        assert words in err
    truck = Truck(tmp_path / "truck", f'{table}tls_ca = "{pki.ca}"\n{shows}')
    code, _, err = truck.run("enrol", "--claim", told)
    assert code == 0, err
    truck.must("record", "--readings", write_log(tmp_path / "first.csv", 12))
    code, _, err = truck.run("offload")
    assert code == 0, err
