"""The options of `wayseal-bench ledger` for EVMs."""

import argparse
import asyncio
import sys
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger import evm
from storage.bench.ledger.evm.contract import read_contract
from storage.bench.ledger.evm.driver import commit
from storage.bench.ledger.evm.options import add_options, evms
from storage.bench.ledger.evm.preparing import network
from support.bench.evm import AT, CHAIN, Node, answering
from support.bench.stages import setup_on


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group("ledger"))
    return parser.parse_args(words)


HIDDEN = "s3cr3t"


def test_a_url_s_key_comes_from_a_file_and_is_never_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "url"
    for word in (
        f"lab=http://me:{HIDDEN}@h:1", f"lab=http://h:1/{HIDDEN}", f"lab=http://h:1?k={HIDDEN}",
        f"lab=ftp://{HIDDEN}", "lab=@/missing", f"lab=http://h:{HIDDEN}",
        "lab=http://hö:1",
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            options("--evm", word)
        said = capsys.readouterr().err
        assert "expected NAME=http://HOST:PORT or NAME=@FILE" in said
        assert HIDDEN not in said
    file.write_text(f"http://127.0.0.1:1/v3/{HIDDEN}?key={HIDDEN}\n")
    ((_, url),) = options("--evm", f"lab=@{file}").evm
    assert HIDDEN in url
    with pytest.raises(UnavailableError, match=r"http://127\.0\.0\.1:1 does not answer") as told:
        network("lab", url, 1)
    assert HIDDEN not in str(told.value)
    with pytest.raises(UnavailableError) as told:
        asyncio.run(commit(url, ()))
    assert HIDDEN not in str(told.value)
    with answering(Node({**CHAIN, "eth_getCode": read_contract().deployed})) as at:
        found = network("lab", f"{at}/v3/{HIDDEN}", 1, contract=AT)
        assert HIDDEN not in f"{found} {found.described}"
        with pytest.raises(RejectedError, match="expected chain 8") as wrong:
            network("lab", f"{at}/v3/{HIDDEN}", 1, chain_id="8")
    assert HIDDEN not in str(wrong.value)


def test_a_key_pays_on_a_named_chain_alone(tmp_path: Path) -> None:
    given = options("--evm", "lab=http://127.0.0.1:1", "--evm-key", "lab=file")
    with (
        setup_on(tmp_path / "s", "a") as setup,
        pytest.raises(RejectedError, match="--evm-key lab: expected --evm-chain lab=ID beside it"),
    ):
        list(evms(given, setup))


def test_without_its_library_an_evm_is_refused_with_the_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("preparing", "chain"):  # as if they had not been imported before
        monkeypatch.delitem(sys.modules, f"storage.bench.ledger.evm.{name}", raising=False)
        monkeypatch.delattr(evm, name, raising=False)
    monkeypatch.setitem(sys.modules, "web3", None)
    with setup_on(tmp_path, "a") as setup:
        with pytest.raises(RejectedError, match=r"scripts/install bench-ledgers installs it"):
            list(evms(options("--evm", "lab=http://127.0.0.1:1"), setup))
        assert list(evms(options(), setup)) == []


def test_options_for_a_name_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with setup_on(tmp_path, "a") as setup:
        for word in ("key", "contract", "chain"):
            words = (f"--evm-{word}", "b=1")
            with pytest.raises(RejectedError, match=f"--evm-{word}: expected a name of --evm"):
                list(evms(options(*words), setup))


def test_a_program_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with setup_on(tmp_path / "s", "a") as setup:
        for program in ("anvil", "geth"):
            with pytest.raises(RejectedError, match=f"expected {program} in the PATH: "):
                list(evms(options("--evm-node", program), setup))
