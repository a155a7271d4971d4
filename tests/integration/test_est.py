"""Enrolment in EST's form: openssl makes the requests, curl sends them, a real gateway signs."""

import base64
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509

from contracts.enrolment import Enrolment, token_for
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger.place import LedgerPlace
from gateway.access import Role, Tokens
from gateway.commands.enrol import run as enrol
from gateway.commands.parser import build_parser
from gateway.enrolling import Enrolling, check_keys
from gateway.pki.claims import GUESSES_MAX, ClaimCodes
from gateway.pki.register import RevokedError
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.gateways.appliance import QuickAppliance
from support.machine.pki import Pki

pytestmark = pytest.mark.integration


@dataclass
class Site:
    """A node with a registered truck, and a gateway with TLS and the authority."""

    folder: Path
    pki: Pki
    appliance: QuickAppliance
    truck: Signer

    @property
    def settings(self) -> Settings:
        return load_settings(self.appliance.settings_file)

    @property
    def url(self) -> str:
        return self.appliance.rest.replace("http:", "https:") + "/.well-known/est"

    def claim(self, device_id: str) -> str:
        return ClaimCodes(self.settings.claims_file).make(device_id, 1)[0]

    def enrolment(self, device_id: str = "truck-7", site_id: str = "site-b") -> str:
        made = Enrolment.sign(self.truck, device_id, site_id).to_json()
        return f"Wayseal-Enrolment: {base64.b64encode(made.encode()).decode()}"

    def post(self, path: str, body: Path, *words: str | Path) -> tuple[int, bytes]:
        said = run(
            *("curl", "-sS", "--cacert", self.pki.ca, "-H", "Content-Type: application/pkcs10"),
            *("--data-binary", f"@{body}", "-w", "\n%{http_code}", *words, self.url + path),
        )
        answer, _, status = said.rpartition(b"\n")
        return int(status), answer

    def enrol(self, user: str, code: str, body: Path, *words: str) -> tuple[int, bytes]:
        return self.post("/simpleenroll", body, "--user", f"{user}:{code}", *words)


def run(*words: str | Path) -> bytes:
    done = subprocess.run([*map(str, words)], capture_output=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


def request(folder: Path, name: str, *, curve: str = "P-256") -> Path:
    """Make a key and a request for `name`, base64 as EST has it."""
    folder.mkdir(exist_ok=True)
    key = folder / f"{name}.key"
    words: list[str | Path] = [
        "-newkey",
        "ec",
        "-pkeyopt",
        f"ec_paramgen_curve:{curve}",
        "-nodes",
        "-keyout",
        key,
    ]
    der = run("openssl", "req", "-new", *words, "-subj", f"/CN={name}", "-outform", "DER")
    path = folder / f"{name}.b64"
    path.write_bytes(base64.encodebytes(der))
    return path


def certificate(answer: bytes, path: Path) -> Path:
    der = path.with_suffix(".p7")
    der.write_bytes(base64.b64decode(answer, validate=True))
    run("openssl", "pkcs7", "-inform", "DER", "-in", der, "-print_certs", "-out", path)
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("est")
    pki = Pki(folder / "pki")
    appliance = QuickAppliance(folder, variables=pki.variables())
    appliance.start()
    appliance.register_network()
    truck = Signer.load_or_create(folder / "truck.key")
    appliance.register_device("truck-7", truck.public_key)
    # What the gateway has by its environment, our own commands need in their file.
    text = appliance.settings_file.read_text("utf-8")
    appliance.settings_file.write_text(f'{text}\n[pki]\nfolder = "{pki.folder}"\n')
    yield Site(folder, pki, appliance, truck)
    appliance.stop()


def test_anybody_gets_the_authority_s_certificate(site: Site, tmp_path: Path) -> None:
    said = run("curl", "-sS", "--insecure", f"{site.url}/cacerts")
    ca = certificate(said, tmp_path / "ca.crt")
    shown = run("openssl", "x509", "-in", ca, "-noout", "-fingerprint", "-sha256").decode()
    assert (
        shown.partition("=")[2].strip().replace(":", "").lower() == site.pki.authority.fingerprint
    )


def test_a_claim_gives_certificate_and_token_once_and_the_certificate_renews(
    site: Site, tmp_path: Path
) -> None:
    asked, code = request(tmp_path, "truck-7"), site.claim("truck-7")
    written = f"{code[:4]}-{code[4:8]}-{code[8:]}".lower()  # as a person may type it
    status, answer = site.enrol("truck-7", written, asked, "-H", site.enrolment())
    assert status == 200, answer
    own = certificate(answer, tmp_path / "truck-7.crt")
    run("openssl", "verify", "-CAfile", site.pki.ca, "-purpose", "sslclient", own)
    caller = Tokens(site.settings.tokens_file).caller(token_for(site.truck, "truck-7", "site-b"))
    assert caller is not None
    assert caller.role is Role.DEVICE
    assert site.enrol("truck-7", code, asked)[0] == 401
    shown: list[str | Path] = ["--cert", own, "--key", tmp_path / "truck-7.key"]
    status, answer = site.post("/simplereenroll", request(tmp_path / "2", "truck-7"), *shown)
    assert status == 200, answer
    renewed = certificate(answer, tmp_path / "2" / "truck-7.crt")
    assert (
        run("openssl", "x509", "-in", renewed, "-noout", "-subject").rstrip().endswith(b"truck-7")
    )
    status, answer = site.post("/simplereenroll", request(tmp_path, "truck-8"), *shown)
    assert (status, b"expected the common name truck-7, got truck-8" in answer) == (422, True)
    assert site.post("/simplereenroll", asked)[0] == 403
    listed = [each.name for each in site.pki.authority.entries()]
    assert listed.count("truck-7") == 2


def test_what_is_wrong_is_said_and_leaves_the_code_for_another_try(
    site: Site, tmp_path: Path
) -> None:
    code, asked = site.claim("truck-7"), request(tmp_path, "truck-7")
    broken = tmp_path / "broken"
    broken.write_text("no base64!")
    big = tmp_path / "big"
    big.write_bytes(b"A" * (17 << 10))
    for body, words, status, said in (
        (request(tmp_path, "truck-8"), [], 422, "expected the common name truck-7, got truck-8"),
        (request(tmp_path / "p", "truck-7", curve="P-384"), [], 422, "expected an EC P-256 key"),
        (broken, [], 422, "expected base64"),
        (big, [], 413, "at most 16384 bytes"),
        (asked, ["-H", site.enrolment(site_id="site-a")], 422, "for site site-b"),
        (asked, ["-H", site.enrolment(device_id="truck-8")], 422, "that of truck-8"),
        (asked, ["-H", "Wayseal-Enrolment: ?"], 422, "expected base64"),
    ):
        found, answer = site.enrol("truck-7", code, body, *words)
        assert found == status, answer
        assert said in json.loads(answer)["detail"]
    other = Signer.load_or_create(tmp_path / "other.key")
    line = base64.b64encode(Enrolment.sign(other, "truck-7", "site-b").to_json().encode()).decode()
    found, answer = site.enrol("truck-7", code, asked, "-H", f"Wayseal-Enrolment: {line}")
    assert (found, b"expected a key that the ledger has" in answer) == (422, True)
    assert site.enrol("truck-7", code, asked)[0] == 200


def test_a_revoked_certificate_renews_and_admits_nothing_before_rest_reads_the_list(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in site.pki.variables().items():
        monkeypatch.setenv(name, value)
    settings, authority = site.settings, site.pki.authority
    status, answer = site.enrol("truck-7", site.claim("truck-7"), request(tmp_path, "truck-7"))
    assert status == 200, answer
    shown = x509.load_pem_x509_certificate(
        certificate(answer, tmp_path / "truck-7.crt").read_bytes()
    ).serial_number
    enrolment = Enrolment.sign(site.truck, "truck-7", "site-b")
    tokens, asked = Tokens(settings.tokens_file), request(tmp_path / "2", "truck-7")
    wanted = base64.b64decode(asked.read_bytes())
    assert Enrolling(settings).admit("truck-7", enrolment, shown)
    tokens.revoke(["truck-7"])

    def looks_slowly(enrolments: Sequence[Enrolment], at: LedgerPlace) -> None:
        check_keys(enrolments, at)
        authority.revoke(["truck-7"])

    with monkeypatch.context() as patched:
        patched.setattr("gateway.enrolling.check_keys", looks_slowly)
        with pytest.raises(RevokedError):
            Enrolling(settings).admit("truck-7", enrolment, shown)
    assert not tokens.has(enrolment)
    elsewhere = settings.model_copy(
        update={"pki": settings.pki.model_copy(update={"folder": tmp_path / "none"})}
    )
    for each in (settings, elsewhere):  # the authority's register, and a list that was copied
        with pytest.raises(RevokedError, match="truck-7: expected a certificate that is not"):
            Enrolling(each).admit("truck-7", enrolment, shown)
        assert not tokens.has(enrolment)
    issued = len(authority.entries())
    with pytest.raises(RevokedError, match="truck-7: expected a certificate that is not"):
        Enrolling(settings).renew("truck-7", wanted, shown)
    assert len(authority.entries()) == issued
    unreadable = settings.model_copy(
        update={"tls": settings.tls.model_copy(update={"crl": tmp_path / "gone.pem"})}
    )
    with pytest.raises(UnavailableError, match="see its log"):
        Enrolling(unreadable).admit("truck-7", enrolment, shown)
    assert not tokens.has(enrolment)


def test_a_code_is_for_one_device_and_for_a_time(tmp_path: Path) -> None:
    now = 1_000_000
    codes = ClaimCodes(tmp_path / "claims.json", lambda: now)
    code, ends = codes.make("truck-7", 1)
    for name, told in (("truck-8", code), ("truck-7", code[:-1]), ("truck-7", "")):
        with pytest.raises(Exception, match="expected the claim code"), codes.spending(name, told):
            pass
    now = ends
    with pytest.raises(Exception, match="has expired"), codes.spending("truck-7", code):
        pass
    now = ends - 1
    with codes.spending("truck-7", code):
        pass
    assert not (tmp_path / "claims.json").exists()


def test_the_command_prints_a_claim_with_the_fingerprint(
    site: Site, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["enrol", "--claim", "truck-7", "--qr", "--config", str(site.appliance.settings_file)]
    enrol(build_parser().parse_args(words), site.settings)
    said = capsys.readouterr()
    claim = json.loads(said.out)
    code, _, fingerprint = claim["claim"].partition(".")
    assert fingerprint == site.pki.authority.fingerprint
    assert "█" in said.err
    assert site.enrol("truck-7", code, request(tmp_path, "truck-7"))[0] == 200


def test_many_wrong_codes_are_not_looked_at(site: Site, tmp_path: Path) -> None:
    code, asked = site.claim("truck-7"), request(tmp_path, "truck-7")
    statuses = [site.enrol("truck-7", "WRONG", asked)[0] for _ in range(GUESSES_MAX + 1)]
    assert set(statuses) == {401, 429}
    assert site.enrol("truck-7", code, asked)[0] == 429
