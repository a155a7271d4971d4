"""Ansible's files, as far as they can be read without Ansible: `make field` applies them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jinja2 import Environment

from support.project.pages import ROOT

FOLDER: Final = ROOT / "ansible"
PAGE: Final = (ROOT / "docs" / "ansible.md").read_text("utf-8")
ROLES: Final = FOLDER / "roles"
PLAYBOOKS: Final = {each.name for each in (FOLDER / "playbooks").iterdir()}
FIELD: Final = {each.name for each in (ROOT / "tests/field").glob("test_ansible*.py")}
SOURCES: Final = "{{ wayseal_source }}/"


def documents() -> dict[Path, Any]:
    return {file: yaml.safe_load(file.read_text("utf-8")) for file in sorted(FOLDER.rglob("*.yml"))}


DOCUMENTS: Final = documents()


def texts(found: Any) -> Iterator[str]:  # noqa: ANN401 - YAML
    """Yield each text in a YAML document, except its keys."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            yield from texts(each)
    elif isinstance(found, str):
        yield found


def under(found: Any, key: str) -> Iterator[Any]:  # noqa: ANN401 - YAML
    """Yield what a YAML document has under a key, anywhere."""
    if isinstance(found, dict):
        if key in found:
            yield found[key]
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            yield from under(each, key)


def everywhere(key: str) -> Iterator[tuple[Path, Any]]:
    for file, document in DOCUMENTS.items():
        for value in under(document, key):
            yield file, value


def test_each_expression_and_each_template_is_jinja() -> None:
    jinja = Environment(autoescape=True)
    for document in DOCUMENTS.values():
        for text in texts(document):
            # A backslash in it is itself: Ansible doubles them.
            jinja.parse(text.replace("\\", r"\\"))
        for condition in under(document, "when"):
            for text in texts([condition]):
                jinja.parse(f"{{{{ {text} }}}}")
    for template in FOLDER.rglob("*.j2"):
        jinja.parse(template.read_text("utf-8"))


def test_each_role_that_is_named_is_there() -> None:
    plays = [each for _, roles in everywhere("roles") for each in roles]
    # A party has roles too, which are words.
    named = {each["role"] for each in plays if isinstance(each, dict)}
    for _, included in everywhere("ansible.builtin.include_role"):
        if "{{" in included["name"]:
            continue
        tasks = f"{included.get('tasks_from', 'main')}.yml"
        assert (ROLES / included["name"] / "tasks" / tasks).is_file(), included
        named.add(included["name"])
    assert named == {each.name for each in ROLES.iterdir()}


def test_each_file_that_a_task_takes_is_there() -> None:
    for file, task in everywhere("ansible.builtin.template"):
        if "{{" not in task["src"]:
            assert (file.parents[1] / "templates" / task["src"]).is_file(), task
    for key in ("include_tasks", "import_tasks"):
        for file, task in everywhere(f"ansible.builtin.{key}"):
            name = task if isinstance(task, str) else task["file"]
            assert (file.parent / name).is_file(), task
    for _, source in everywhere("src"):
        rest = source.removeprefix(SOURCES)
        if rest != source and "{{" not in rest:
            assert (ROOT / rest).exists(), source


def test_the_page_names_each_playbook_tag_and_test_and_no_other() -> None:
    assert set(re.findall(r"([\w-]+\.yml)\b", PAGE)) >= PLAYBOOKS
    assert set(re.findall(r"playbooks/([\w-]+\.yml)", PAGE)) <= PLAYBOOKS
    assert set(re.findall(r"test_ansible\w*\.py", PAGE)) == FIELD
    (told,) = re.findall(r"`--tags` what is done: (.*?)\. `", PAGE, re.DOTALL)
    used = {tag for _, tags in everywhere("tags") for tag in tags}
    assert set(re.findall(r"`(\w+)`", told)) == used


def made_by(document: Any) -> Iterator[str]:  # noqa: ANN401 - YAML
    """Yield the variables that tasks of a YAML document make."""
    yield from under(document, "register")
    yield from under(document, "loop_var")
    for each in (*under(document, "vars"), *under(document, "ansible.builtin.set_fact")):
        yield from each


@pytest.mark.parametrize("role", sorted(each.name for each in ROLES.iterdir()))
def test_each_variable_of_a_role_has_a_default_or_is_made_by_a_task(role: str) -> None:
    files = [file for file in (ROLES / role).rglob("*") if file.suffix in {".yml", ".j2"}]
    text = "\n".join(file.read_text("utf-8") for file in files)
    used = set(re.findall(rf"(?<![\w.'/-]){role}_\w+", text))
    made = {name for document in DOCUMENTS.values() for name in made_by(document)}
    assert used <= made | set(DOCUMENTS.get(ROLES / role / "defaults/main.yml") or {})
