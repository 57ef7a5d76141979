"""Requests: a question with its arguments, from which every interface takes what it offers.

A request is a frozen dataclass. Its fields are the arguments, and each says in an :class:`Arg` what it may be, and how
the command line, HTTP and the tools of agents call it and explain it. An interface for which an argument has no words
does not have that argument.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin

from loccit.config.bounds import LONGEST_TEXT

if TYPE_CHECKING:
    from loccit.library import Library

_JSON_TYPES = {int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Arg:
    """One argument: what it may be, and its words in each interface.

    ``kind``, ``several``, ``required`` and ``default`` of a field follow from its type and default value.
    """

    help: str = ""
    """The command line's explanation."""
    flags: tuple[str, ...] = ()
    """Options of the command line; with none, but a ``metavar``, it is given by its position."""
    metavar: str = ""
    switches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values that have an option of their own: the flags, then the explanation."""
    panel: str = ""
    variable: str = ""
    """The environment variable that stands for the option."""
    http: str | None = None
    """What HTTP says about it."""
    http_name: str = ""
    blank: bool = False
    """Whether an empty text is one over HTTP."""
    brief: str | None = None
    """What a model is told; nothing if the name says enough: every agent pays for it in every conversation."""
    aliases: str = ""
    """Names that models write instead."""
    bounds: tuple[float, float] | None = None
    http_bounds: tuple[float, float] | None = None
    """The bounds over HTTP, where they differ."""
    flag_bounds: tuple[float, float | None] | None = None
    """The bounds that the help of the command line shows; without, the library says what is wrong."""
    of_setting: bool = False
    """Whether it stands in for a setting, which has the default."""
    choices: tuple[str, ...] = ()
    longest: int = LONGEST_TEXT
    """The maximum length of a text, and of each in a list."""
    http_longest: int = 0
    most: int = 0
    """The maximum number of items of a list."""
    shown_default: object = None
    """The default that models are told."""
    may_lack: bool = False
    """Whether tools can do without it, though it is required elsewhere."""
    typed: bool = False
    """Whether the command line cannot do without it, though it may lack elsewhere."""
    words: bool = False
    """Whether the command line takes all words that are no options for it."""
    name: str = ""
    kind: type = str
    several: bool = False
    required: bool = False
    default: Any = None

    @property
    def type(self) -> str:
        """The JSON type of a value."""
        return _JSON_TYPES.get(self.kind, "string")

    @property
    def positional(self) -> bool:
        """Whether the command line takes it by its position."""
        return bool(self.metavar and not self.flags)


@dataclass(frozen=True, slots=True)
class Request(Generic[R_co]):
    """A question with its arguments."""

    def ask(self, library: "Library") -> R_co:
        """Put the question to a library."""
        raise NotImplementedError

    def given(self, *beside: str) -> dict[str, Any]:
        """Return the arguments by name, without some."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in beside}


def arguments(request: Callable[..., Request[Any]]) -> tuple[Arg, ...]:
    """Return the arguments of a kind of request, in order."""
    return _arguments(request)


def told_arguments(request: Callable[..., Request[Any]]) -> tuple[Arg, ...]:
    """Return the arguments that tools have."""
    said = (one for one in arguments(request) if one.brief is not None)
    return tuple(replace(one, required=one.required and not one.may_lack) for one in said)


@cache
def _arguments(request: Any) -> tuple[Arg, ...]:
    return tuple(_argument(item, request.__annotations__[item.name]) for item in fields(request))


def _argument(item: Any, annotation: Any) -> Arg:
    declared, (said,) = get_args(annotation)[0], annotation.__metadata__
    alternatives = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    kinds = [one for one in alternatives if one is not type(None)]
    lists = [one for one in kinds if get_origin(one) is Sequence]
    plain = [one for one in kinds if one not in lists]
    kind = get_origin(plain[0]) or plain[0] if plain else list
    required = item.default is MISSING
    made: Arg = replace(
        said,
        name=item.name,
        kind=dict if kind is Mapping else kind,
        several=bool(lists and plain),
        required=required,
        default=None if required else item.default,
    )
    return made
