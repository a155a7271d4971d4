"""URLs of EVMs, whose path or query may hold a provider's key: nothing shows more than the host."""

import argparse
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_FILE: Final = "@"


def shown(url: str) -> str:
    """Return scheme, host and port of a URL: all of it that may be read by others."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}"


def hidden(text: str, url: str) -> str:
    """Return another's words without what a URL keeps to itself."""
    own = url.removeprefix(shown(url)).strip("/")
    return text.replace(own, "…") if own else text


def named_evm(text: str) -> tuple[str, str]:
    """Read NAME=URL, or NAME=@FILE with a file that holds the URL, for argparse."""
    name, _, url = text.partition("=")
    wanted = "expected NAME=http://HOST:PORT or NAME=@FILE"
    in_file = url.startswith(_FILE)
    if in_file:
        try:
            url = Path(url[1:]).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise argparse.ArgumentTypeError(f"{wanted}: {error}") from error
    try:
        url.encode("ascii")  # as the loader sends it
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    # What was given may hold a password or a key: it is not told.
    if not name or not host or port == 0 or parts.scheme not in {"http", "https"}:
        raise argparse.ArgumentTypeError(f"{wanted}, got no such URL")
    if "@" in parts.netloc:
        raise argparse.ArgumentTypeError(f"{wanted}, got a URL with a user; none is sent")
    if not in_file and (parts.path.strip("/") or parts.query):
        raise argparse.ArgumentTypeError(
            f"{wanted}, got a URL with a path or a query: it may hold a key, and the command "
            "stands in the report, so such a URL belongs in a file"
        )
    return name, url.rstrip("/")
