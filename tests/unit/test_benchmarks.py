"""Reports of wayseal-bench over REST: which runs are listed, and no other file is shown."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest

from gateway import benchmarks
from gateway.access import Role, Tokens
from gateway.api.app import build_app
from gateway.benchmarks import REPORT_BYTES_MAX
from gateway.services import Services
from gateway.settings import Settings
from gateway.storagesettings import BenchmarkSettings
from storage.bench.commands.report import PAGE

Ask = Callable[[str], httpx.Response]
RUN: Final = "20260101T000000Z-io"
LATER: Final = "20260301T000000Z-ledger"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "runs"
    for name in (RUN, LATER, "without-a-report"):
        (made / name).mkdir(parents=True)
    for name in (RUN, LATER):
        (made / name / PAGE).write_text(f"<!doctype html><title>{name}</title>", "utf-8")
    return made


def asking(data: Path, folder: Path | None, role: Role) -> Iterator[Ask]:
    settings = Settings(data=data, site_id="site", benchmarks=BenchmarkSettings(folder=folder))
    token = Tokens(settings.tokens_file).add("who", role)
    with closing(Services(settings)) as services:
        app = build_app(services)

        async def asked(path: str) -> httpx.Response:
            through = httpx.ASGITransport(app)
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(
                transport=through, base_url="http://gateway", headers=headers
            ) as client:
                return await client.get(path)

        yield lambda path: asyncio.run(asked(path))


@pytest.fixture
def ask(tmp_path: Path, folder: Path) -> Iterator[Ask]:
    yield from asking(tmp_path / "gateway", folder, Role.OPERATOR)


def names(ask: Ask) -> list[str]:
    return [each["name"] for each in ask("/v1/benchmarks").json()["items"]]


def test_runs_with_a_report_are_listed_the_newest_first(ask: Ask) -> None:
    assert names(ask) == [LATER, RUN]
    page = ask("/v1/benchmarks?limit=1").json()
    assert [each["name"] for each in page["items"]] == [LATER]
    rest = ask(f"/v1/benchmarks?cursor={page['next_cursor']}").json()
    assert ([each["name"] for each in rest["items"]], rest["next_cursor"]) == ([RUN], None)


def test_a_report_is_shown_as_it_is_and_may_run_nothing(ask: Ask, folder: Path) -> None:
    answer = ask(f"/v1/benchmarks/{RUN}/report")
    assert answer.content == (folder / RUN / PAGE).read_bytes()
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "; sandbox;" in policy
    assert "script" not in policy
    assert answer.headers["x-frame-options"] == "DENY"


def test_no_other_file_is_shown(ask: Ask, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / PAGE).write_text("secret", "utf-8")
    (folder / "linked").symlink_to(secret)
    (folder / "linked-report").mkdir()
    (folder / "linked-report" / PAGE).symlink_to(secret / PAGE)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / PAGE).write_text("secret", "utf-8")
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / PAGE)
    assert names(ask) == [LATER, RUN]
    for name in ("linked", "linked-report", ".hidden", "pipe", "without-a-report", "nothing"):
        assert ask(f"/v1/benchmarks/{name}/report").status_code == 404, name
    for name in ("..%2fsecret", "..", "%2e%2e", "a%00b", "x" * 300):
        answer = ask(f"/v1/benchmarks/{name}/report")
        assert answer.status_code in (404, 422), name
        assert "secret" not in answer.text or "..%2fsecret" in name


@pytest.mark.parametrize("place", ["folder", "report"])
def test_a_link_put_in_after_the_look_is_not_followed(
    ask: Ask, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Who may write to the folder of runs must not read other files of the gateway through it."""
    looked = benchmarks._report  # noqa: SLF001

    def swapped(at: Path, name: str) -> os.stat_result | None:
        told = looked(at, name)
        target = folder / RUN if place == "folder" else folder / RUN / PAGE
        target.rename(tmp_path / "moved")
        target.symlink_to(tmp_path / "moved")
        return told

    monkeypatch.setattr(benchmarks, "_report", swapped)
    answer = ask(f"/v1/benchmarks/{RUN}/report")
    assert answer.status_code == 503
    assert RUN in answer.json()["detail"]


def test_a_report_without_bound_is_not_read(ask: Ask, folder: Path) -> None:
    with (folder / RUN / PAGE).open("r+b") as file:
        file.truncate(REPORT_BYTES_MAX + 1)
    assert names(ask) == [LATER]
    assert ask(f"/v1/benchmarks/{RUN}/report").status_code == 404


def test_before_the_first_run_there_is_no_report(tmp_path: Path) -> None:
    for at, folder in enumerate((None, tmp_path / "later")):
        for ask in asking(tmp_path / f"gateway-{at}", folder, Role.OPERATOR):
            assert names(ask) == []


def test_a_folder_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for ask in asking(tmp_path / "gateway", tmp_path / "file", Role.OPERATOR):
        answer = ask("/v1/benchmarks")
        assert answer.status_code == 503
        assert answer.json()["detail"] == (
            f"benchmarks.folder {tmp_path / 'file'}: Not a directory"
        )


def test_an_auditor_sees_no_reports(tmp_path: Path, folder: Path) -> None:
    for ask in asking(tmp_path / "gateway", folder, Role.AUDITOR):
        assert ask("/v1/benchmarks").status_code == 403
        assert ask(f"/v1/benchmarks/{RUN}/report").status_code == 403
