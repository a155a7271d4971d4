"""An OpenAPI description as one HTML page: no script, nothing loaded, so it works offline."""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """\
:root{color-scheme:light dark}body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem}summary{cursor:pointer;overflow-wrap:anywhere}details{margin:.3rem 0}
code{background:color-mix(in srgb,currentColor 10%,transparent);padding:0 .2rem}
pre{overflow-x:auto}
table{border-collapse:collapse;margin:.5rem 0 1rem}td,th{border:1px solid;padding:.2rem .5rem;
border-color:color-mix(in srgb,currentColor 30%,transparent);
text-align:left;vertical-align:top}td:last-child{overflow-wrap:anywhere}"""
_Node = Mapping[str, Any]


def page(description: _Node) -> str:
    """Return the page: every route with its parameters and answers, and every answer's members."""
    return "\n".join(_lines(description))


def _lines(description: _Node) -> Iterator[str]:
    info = description["info"]
    title = escape(info["title"])
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{title}</h1><p>{escape(info['description'])}</p>"
    yield '<p>For programs: <a href="openapi.json">openapi.json</a>.</p>'
    yield "<h2>Routes</h2>"
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield from _operation(f"{method.upper()} {path}", operation)
    yield "<h2>Answers</h2>"
    for name, schema in description["components"]["schemas"].items():
        yield from _schema(name, schema)
    yield "</body></html>"


def _operation(name: str, operation: _Node) -> Iterator[str]:
    words = operation.get("description", "")
    yield f"<details><summary><code>{escape(name)}</code> {escape(words.partition('.')[0])}"
    token = "" if operation.get("security") else " It needs no token."
    yield f"</summary><p>{escape(words + token)}</p>"
    parameters = operation.get("parameters", [])
    yield from _table(
        ("parameter", "in", "type", ""),
        (
            (
                escape(each["name"]),
                each["in"],
                _type(each["schema"]),
                escape(each.get("description", "")),
            )
            for each in parameters
        ),
    )
    yield from _table(
        ("status", "", "content"),
        (
            (status, escape(answer["description"]), _content(answer.get("content", {})))
            for status, answer in operation["responses"].items()
        ),
    )
    for status, answer in operation["responses"].items():
        for media, of in answer.get("content", {}).items():
            if "example" in of:
                shown = of["example"]
                text = shown if isinstance(shown, str) else json.dumps(shown, indent=1)
                yield f"<details><summary>Example of {status}, {escape(media)}</summary>"
                yield f"<pre>{escape(text)}</pre></details>"
    yield "</details>"


def _schema(name: str, schema: _Node) -> Iterator[str]:
    yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> '
    yield f"{escape(schema.get('description', ''))}</summary>"
    members = schema.get("properties", {})
    yield from _table(
        ("member", "type", ""),
        (
            (escape(member), _type(about), escape(about.get("description", "")))
            for member, about in members.items()
        ),
    )
    yield "</details>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield a table, or nothing without rows; the cells are HTML."""
    cells = [list(row) for row in rows]
    if cells:
        yield f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"
        for row in cells:
            yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        yield "</table>"


def _content(content: _Node) -> str:
    return "; ".join(
        f"{escape(media)}: {_type(of.get('schema', {}))}" for media, of in content.items()
    )


def _type(schema: _Node) -> str:
    """Return a type in words, with links to the members of objects."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(escape(str(each)) for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    words = [schema.get("type", "any"), schema.get("format", "")]
    return escape(" ".join(filter(None, words)))
