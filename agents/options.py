"""The options in an agent's name: `sampled-worlds:yukon,worlds=8,seconds=0.05`.

What may be set is what a frozen dataclass of the agent declares: the names of its fields, their
types (`int`, `float`, `str`, or one of them `| None`) and their defaults.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from agents.errors import AgentError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")

_WANTED = {int: "a whole number", float: "a number", str: "a word", NoneType: "none"}


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """Splits `yukon,worlds=8` into `yukon` and `{"worlds": "8"}`.

    Raises:
        AgentError: An option is not written `name=value`, or is given twice.
    """
    argument, *parts = text.split(",")
    options: dict[str, str] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise AgentError(f"an option is written name=value, not {part!r}")
        if name in options:
            raise AgentError(f"the option {name} is given twice")
        options[name] = value
    return argument.strip(), options


def read_options(defaults: S, given: Mapping[str, Any]) -> S:
    """Makes settings of options given as text or as values; the others keep their defaults.

    Args:
        defaults: A dataclass of settings; it checks the ranges of its values itself.
        given: Options by name.

    Raises:
        AgentError: An option is unknown, or its value is of another type.
    """
    types = get_type_hints(type(defaults))
    known = [field.name for field in fields(defaults)]
    for name in given:
        if name not in known:
            raise AgentError(f"unknown option {name!r}; known are {', '.join(known)}")
    values = {name: _read_value(name, given[name], types[name]) for name in given}
    return replace(defaults, **values)


def _read_value(name: str, value: Any, wanted: Any) -> Any:
    kinds = get_args(wanted) or (wanted,)
    for kind in kinds:
        if kind is NoneType:
            if value is None or value == "none":
                return None
        elif not isinstance(value, bool) and isinstance(value, str | int | kind):
            try:
                return kind(value)
            except ValueError:
                continue
    forms = " or ".join(_WANTED[kind] for kind in kinds)
    raise AgentError(f"the option {name} is {forms}, not {value!r}")
