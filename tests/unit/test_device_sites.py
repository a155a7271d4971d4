"""Several gateways in one device's settings: what each table needs, and what is refused."""

from pathlib import Path

import pytest

from contracts.enrolment import token_for
from device.settings import Settings, SettingsError
from device.settings_file import load
from device.wayseal_device import main
from support.machine.private import write_private
from support.network.world import key

KEY = key("g").public_key
ONE = f'[gateway]\nmqtt = "a:1"\nrest = "http://a:1"\npublic_keys = ["{KEY}"]\n'


def table(site: str, more: str = "") -> str:
    return (
        f'[[gateways]]\nsite_id = "{site}"\nmqtt = "{site}:1883"\nrest = "http://{site}:8080/"\n'
        f'public_keys = ["{KEY}"]\n{more}'
    )


def write(folder: Path, text: str) -> Path:
    return write_private(folder / "device.toml", f'device_id = "t"\ndata = "d"\n{text}')


def settings_of(folder: Path, text: str) -> Settings:
    return load(write(folder, text), {})


def test_each_table_has_what_one_gateway_has(tmp_path: Path) -> None:
    more = 'token = "own"\nmqtt_ca = "ca.crt"\ntimeout_s = 7\nreceipt_requires = ["volume"]\n'
    settings = settings_of(tmp_path, table("dock-a") + table("dock-b", more))
    first, second = settings.need_sites()
    assert (first.site_id, first.rest, first.mqtt_host) == (
        "dock-a",
        "http://dock-a:8080",
        "dock-a",
    )
    assert (first.token, first.timeout_s) == ("", 30)
    assert (second.token, second.timeout_s, second.mqtt_ca) == ("own", 7, tmp_path / "ca.crt")
    assert second.receipt_requires == ("volume",)
    assert settings.need_sites("dock-b") == (second,)
    assert "own" not in repr(settings)


def test_one_gateway_needs_a_token_or_a_site_to_make_one_for(tmp_path: Path) -> None:
    (gateway,) = settings_of(tmp_path, ONE + 'site_id = "dock-a"\n').need_sites("dock-a")
    assert gateway.with_token(key("t"), "t").token == token_for(key("t"), "t", "dock-a")
    (gateway,) = settings_of(tmp_path, ONE + 'token = "x"\n').need_sites()
    assert gateway.with_token(key("t"), "t") == gateway
    with pytest.raises(SettingsError) as caught:
        settings_of(tmp_path, ONE)
    assert "key gateway.token: expected a value, it is missing; set it in" in str(caught.value)
    assert "$WAYSEAL_GATEWAY__TOKEN; or set gateway.site_id" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            ONE + table("b"),
            "or [[gateways]], got [[gateways]] in {path} and [gateway] in {path}",
        ),
        (
            table("a") + table("b").replace("mqtt", "mqqt"),
            "key gateways.mqqt: unknown in {second}, did you mean gateways.mqtt?",
        ),
        (
            table("a", 'tokn = "987654"\n'),
            "key gateways.tokn: unknown in {first}, did you mean gateways.token?",
        ),
        (table("a").replace("gateways", "gatewayes"), "key gatewayes: unknown in {path}, did you"),
        (
            table("a").replace("gateways", "gateway"),
            "key gateway: expected a section [gateway], or 1 to 100 tables [[gateways]], got",
        ),
        (
            table("a").replace("[[", "[").replace("]]", "]"),
            "key gateways: expected a section [gateway], or 1 to 100 tables [[gateways]], got",
        ),
        ("gateways = []", "key gateways: expected a section [gateway], or 1 to 100 tables"),
        ("gateways = [987654]", "key gateways: expected a section [gateway], or 1 to 100 tables"),
        (
            table("a") + '[[gateways]]\nmqtt = "b:1"\n',
            "key gateways.rest: expected a value, it is missing; set it in {second}",
        ),
        (
            table("a").replace('site_id = "a"', ""),
            "key gateways.site_id: expected a value, it is missing; set it in {first}",
        ),
        (
            table("a") + table("b").replace(":1883", ":x"),
            "key gateways.mqtt: expected HOST:PORT, got 'b:x' in {second}",
        ),
        (
            table("a", "timeout_s = 0\n"),
            "key gateways.timeout_s: expected a whole number within 1..3600, got 0 in {first}",
        ),
        (
            table("a", "token = 987654\n"),
            "key gateways.token: expected a text, got something else in {first}",
        ),
        (
            table("a") + table("b").replace('"b"', '"a"'),
            "key gateways.site_id: expected another one than in table 1, got 'a' in {second}",
        ),
        (
            table("a") + table("b").replace("http://b", "http://a"),
            "gateways.rest: expected another one than in table 1, got 'http://a:8080/' in {second}",
        ),
        (
            table("a", f'genesis_block_id = "{"9" * 128}"\n') + table("b"),
            "genesis_block_id: expected the ledger of table 1, as a network has one: '999",
        ),
    ],
)
def test_wrong_tables(tmp_path: Path, text: str, named: str) -> None:
    path = write(tmp_path, "" if text.startswith("gateways") else text)
    if text.startswith("gateways"):
        write_private(path, f"{text}\n{path.read_text()}")
    with pytest.raises(SettingsError) as caught:
        load(path, {})
    first, second = (f"table {number} of [[gateways]] in {path}" for number in (1, 2))
    assert named.format(path=path, first=first, second=second) in str(caught.value)
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("WAYSEAL_GATEWAYS", "variable $WAYSEAL_GATEWAYS: [[gateways]] has no variables"),
        ("WAYSEAL_GATEWAYS__MQTT", "$WAYSEAL_GATEWAYS__MQTT: [[gateways]] has no variables"),
        ("WAYSEAL_GATEWAY__TOKEN", "[gateway] in $WAYSEAL_GATEWAY__TOKEN: make the one site"),
    ],
)
def test_no_variable_reaches_a_table(tmp_path: Path, variable: str, words: str) -> None:
    path = write(tmp_path, table("a"))
    with pytest.raises(SettingsError) as caught:
        load(path, {variable: "987654"})
    assert words in str(caught.value)
    assert "987654" not in str(caught.value)


def test_a_token_in_a_table_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = write(tmp_path, table("a") + table("b", 'token = "x"\n'))
    path.chmod(0o644)
    with pytest.raises(SettingsError, match=r"key gateways\.token in .* chmod 600"):
        load(path, {})
    path = write(tmp_path, table("a"))
    path.chmod(0o644)
    assert load(path, {}).sites


def test_a_site_that_no_table_names_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, table("dock-a") + table("dock-b"))
    assert main(["offload", "--site", "dock-c", "--config", str(path)]) == 2
    assert "--site: expected one of dock-a, dock-b, got 'dock-c'" in capsys.readouterr().err
    path = write(tmp_path, ONE + 'token = "x"\n')
    assert main(["offload", "--site", "dock-c", "--config", str(path)]) == 2
    assert "--site: expected one of none, as no site_id is set, got 'dock-c'" in (
        capsys.readouterr().err
    )


def test_a_table_without_keys_and_no_gateway_at_all_are_refused(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, table("dock-a").replace(f'"{KEY}"', ""))
    with pytest.raises(SettingsError, match=r"gateways\.public_keys of site dock-a: expected at"):
        settings.need_sites()
    with pytest.raises(SettingsError, match=r"section \[gateway\] or \[\[gateways\]\]: expected"):
        settings_of(tmp_path, "").need_sites()
