"""Names of settings that are unknown: which one was meant.

No function here takes a value: an unknown key may hold a misspelt password.
"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Final

VARIABLE_PREFIX: Final = "WAYSEAL_"
_NEAR_KEY: Final = 0.6
"""difflib's own measure of likeness for keys of one section."""
_NEAR_VARIABLE: Final = 0.86
"""Higher for variables, because other programs may have their own with our prefix."""


def unknown_key(name: str, origin: str, known: Collection[str]) -> str:
    """Say that `name` is unknown, and which key was meant, or which ones there are.

    Args:
        name: Full name, such as `mqtt.passwrod`.
        origin: The file or variable that has it.
        known: Full names of all keys and sections.
    """
    section, _, last = name.rpartition(".")
    here = {each.rpartition(".")[2]: each for each in known if each.rpartition(".")[0] == section}
    near = [here[each] for each in get_close_matches(last, here, 1, _NEAR_KEY)]
    near = near or [each for each in known if each.rpartition(".")[2] == last]
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"expected one of {', '.join(here.values() or known)}"
    )
    return f"{name}: unknown in {origin}, {hint}"


def variable_of(name: str) -> str:
    """Return the environment variable of a key: `mqtt.port` is WAYSEAL_MQTT__PORT."""
    return VARIABLE_PREFIX + name.upper().replace(".", "__")


def misspelt_variables(environment: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """Return variables that are almost those of known keys: the meant one, by the one given.

    Without this, `WAYSEAL_LEDGER_URL` would change nothing and say nothing. Variables that are not
    like any of ours belong to other programs.
    """
    ours = [variable_of(name).removeprefix(VARIABLE_PREFIX) for name in known]
    found = {}
    for variable in environment:
        word = variable.upper().removeprefix(VARIABLE_PREFIX)
        if variable.upper().startswith(VARIABLE_PREFIX) and word not in ours:
            near = get_close_matches(word, ours, 1, _NEAR_VARIABLE)
            if near:
                found[variable] = VARIABLE_PREFIX + near[0]
    return found
