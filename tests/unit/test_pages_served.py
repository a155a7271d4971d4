"""The pages' files over REST: which paths, which headers, and nothing else of the disk."""

import asyncio
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import httpx
import pytest
from fastapi import FastAPI

from gateway.api import pages, problems
from gateway.api.headers import Headed
from gateway.api.issuer import REFUSED
from gateway.people.oidc.refusals import Refusal

ROOT: Final = Path(__file__).parents[2]
BUILT: Final = ROOT / "gateway/web"
SESSION: Final = ROOT / "web/src/lib/session.svelte.ts"
ROUTER: Final = ROOT / "web/src/lib/router.svelte.ts"


@dataclass(frozen=True)
class Client:
    """Asks the application, without a socket."""

    app: FastAPI

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        async def asked() -> httpx.Response:
            through = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=through, base_url="http://gateway") as client:
                return await client.request(method, path, headers=headers)

        return asyncio.run(asked())

    def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        return self.ask("GET", path, headers)


@pytest.fixture(scope="module")
def client() -> Client:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    problems.install(app)
    app.include_router(pages.router)
    app.add_middleware(Headed)
    return Client(app)


class Inline(HTMLParser):
    """Gathers what a policy without `unsafe-inline` would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]


def test_the_gateway_serves_each_path_that_the_pages_have() -> None:
    own = re.findall(r'path: "([^"]+)"', ROUTER.read_text("utf-8"))
    assert own
    assert {re.sub(r"\{(\w+)\}", r":\1", each) for each in pages.PATHS} == set(own)


@pytest.mark.parametrize("path", ["/", "/trips", "/trips/ab", "/lot?gtin=1&lot=%2E%2E"])
def test_each_page_is_one_document_with_a_strict_policy(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    parser = Inline()
    parser.feed(answer.text)
    assert not parser.found


def test_what_a_page_loads_is_named_by_its_content_and_kept(client: Client) -> None:
    loaded = re.findall(r'(?:src|href)="(/assets/[^"]+)"', client.get("/").text)
    assert loaded
    for each in loaded:
        answer = client.get(each)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_script_is_compressed_for_those_who_take_it(client: Client) -> None:
    script = max((BUILT / "assets").glob("*.js"), key=lambda each: each.stat().st_size)
    path = f"/assets/{script.name}"
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.content == plain.content == script.read_bytes()
    assert "accept-encoding" in packed.headers["vary"].lower()


def test_a_known_document_is_not_sent_again(client: Client) -> None:
    etag = client.get("/").headers["etag"]
    answer = client.get("/trips", headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")


def test_head_has_no_body(client: Client) -> None:
    assert client.ask("HEAD", "/").status_code == 200
    assert client.ask("HEAD", "/").content == b""


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/..%2findex.html",
        "/assets/%2e%2e%2f%2e%2e%2fsettings.py",
        "/map/10_40.json%00",
        "/assets/" + "a" * 4000 + ".js",
        "/assets/.hidden.js",
        "/map/__init__.py",
    ],
)
def test_nothing_else_of_the_disk_is_served(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == problems.MEDIA_TYPE


def test_the_map_has_the_cells_that_it_is_drawn_from(client: Client) -> None:
    cell = client.get("/map/10_40.json").json()
    assert {"land", "borders", "places"} == cell.keys()
    assert any(name == "Graz" for *_, name in cell["places"])
    assert client.get("/map/-170_-60.json").status_code == 404


def test_the_licences_of_all_that_is_bundled_are_shipped(client: Client) -> None:
    told = client.get("/licenses.md").text
    for name in (
        "svelte",
        "uplot",
        "d3-geo",
        "@dagrejs/dagre",
        "@noble/curves",
        "@noble/hashes",
        "GeoNames",
        "Natural Earth",
        "Inter",
    ):
        assert name.lower() in told.lower(), name


def test_nothing_that_is_built_names_a_place_elsewhere_to_load_from() -> None:
    known = re.compile(rb"https?://(?:www\.w3\.org/|svelte\.dev/e/|127\.0\.0\.1|localhost)")
    for each in BUILT.rglob("*"):
        if each.suffix in {".html", ".css", ".svg"}:
            assert not re.search(rb"https?://", known.sub(b"", each.read_bytes())), each
    for each in (BUILT / "assets").glob("*.js"):
        found = re.findall(rb"https?://[^\"'`\s)]+", known.sub(b"", each.read_bytes()))
        assert not found, (each, found)


def test_the_sign_in_page_has_a_sentence_for_each_refusal_of_an_issuer() -> None:
    text = SESSION.read_text("utf-8")
    said = re.findall(r'^  "([a-z-]+)": "[A-Z].+\."', text, re.MULTILINE)
    assert said == [str(each) for each in Refusal]
    assert f'.get("{REFUSED}")' in text
