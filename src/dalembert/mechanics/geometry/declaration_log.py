"""What was declared, in order and in the words it was declared in: enough to write a description
down again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, ParamSpec, TypeVar

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_option
from dalembert.symbolic.algebra.scalar import is_python_function

P = ParamSpec("P")
R = TypeVar("R")


class PythonFunction:
    """Stands for a function of Python among the arguments: it can be called, not written down."""


@dataclass(frozen=True)
class Declaration:
    """One declaration: the verb, its arguments by name, and what it made; `owner` is the frame or
    point on which it was called.
    """

    verb: str
    owner: Any
    arguments: Mapping[str, Any]
    result: Any
    # how long the tape was before and after
    nodes: tuple[int, int] = (0, 0)
    # the elements that it added to the description: rows, loads, contacts, …
    added: tuple[Any, ...] = ()


@dataclass
class DeclarationLog:
    """Declarations in order. One that a declaration makes on its way is a part of it and not
    listed by itself.
    """

    declarations: list[Declaration] = field(default_factory=list)
    depth: int = 0
    # what reads the dimensions of each new element, from the first unit on
    dimensions: Any = None


# the verbs that may give the first unit, with which all that was declared before is read
_UNIT_VERBS: Final = ("constant", "constants", "input", "units")


class Rollback:
    """How much there was before a declaration: what is refused for its dimension is taken back
    whole.
    """

    def __init__(self, owner: Any) -> None:
        space, journal = owner.space, owner.space.journal
        check = journal.dimensions
        self.registry = owner if check is None else check.s
        self.journal, self.tape, self.check = journal, space.tape, check
        parts = (self.registry, space, *(() if check is None else (check, check.inference)))
        containers = [
            c for part in parts for c in vars(part).values() if isinstance(c, list | dict)
        ]
        # they only grow, and keep their order
        self.lengths = [(c, len(c)) for c in (*containers, journal.declarations, *self._dicts())]
        self.copies = [
            (c, c.copy())
            for c in (
                self.registry.dimensions,
                self.tape.moving,
                self.tape.inputs,
                self.tape.states,
            )
        ]
        self.copies += (
            [] if check is None else [(check.checked_counts, check.checked_counts.copy())]
        )
        self.gravity_field = self.registry.gravity_field

    def _dicts(self) -> tuple[dict[Any, Any], ...]:
        return self.tape.displays, self.tape.names, self.tape.rates

    def restore(self) -> None:
        """Take back what came since."""
        for grown, length in self.lengths:
            if isinstance(grown, list):
                del grown[length:]
                continue
            for key in list(grown)[length:]:
                del grown[key]
        for changed, before in self.copies:
            changed.clear()
            changed.update(before)
        self.registry.gravity_field, self.journal.dimensions = self.gravity_field, self.check
        # frames to come take the numbers of those taken back
        self.tape.rotated_components.clear()


def _given_arguments(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """{parameter: value} of a call without its owner; functions are left out."""
    _, *rest = signature.bind(*args, **kwargs).arguments.items()
    given: dict[str, Any] = {}
    for name, value in rest:
        plain = _without_callables(value)
        collects = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        given |= plain if collects else {name: plain}
    return given


def record_declaration(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb of a system, a frame or a point, noted in the journal of its space where it
    succeeds.
    """
    signature = inspect.signature(verb)

    @functools.wraps(verb)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        owner: Any = args[0]
        journal: DeclarationLog | None = getattr(getattr(owner, "space", None), "journal", None)
        if journal is None:
            return verb(*args, **kwargs)
        if journal.depth:
            return _call_verb(verb, signature, journal, args, kwargs)
        tape = owner.space.tape
        before = len(tape)
        lengths = [(c, len(c)) for c in vars(owner).values() if c.__class__ is list]
        needs_rollback = journal.dimensions is not None or verb.__name__ in _UNIT_VERBS
        rollback = Rollback(owner) if needs_rollback else None
        result = _call_verb(verb, signature, journal, args, kwargs)
        given = _given_arguments(signature, args, kwargs)
        added = tuple(x for elements, length in lengths for x in elements[length:])
        journal.declarations.append(
            Declaration(verb.__name__, owner, given, result, (before, len(tape)), added)
        )
        if journal.dimensions is not None and rollback is not None:
            try:
                journal.dimensions.check_new()
            except BadDescription:
                rollback.restore()
                raise
        return result

    return wrapper


def _call_verb(
    verb: Callable[..., R],
    signature: inspect.Signature,
    journal: DeclarationLog,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> R:
    """Call a verb one level deeper, so that what it declares by other verbs is not noted."""
    journal.depth += 1
    try:
        return verb(*args, **kwargs)
    except TypeError:
        _check_call(verb, signature, args, kwargs)
        raise
    finally:
        journal.depth -= 1


def _check_call(
    verb: Callable[..., Any], signature: inspect.Signature, args: Any, kwargs: Any
) -> None:
    """Say how a verb is called where arguments are missing or too many."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as problem:
        _, *rest = signature.parameters.values()
        written = ", ".join(
            "name=value"
            if p.kind is p.VAR_KEYWORD
            else p.name
            if p.default is p.empty
            else f"{p.name}=…"
            for p in rest
        )
        named = tuple(p.name for p in rest)
        unknown = next((name for name in kwargs if name not in named), "")
        meant = suggest_option(unknown, named) if unknown else ""
        msg = (
            f"{verb.__name__}: {problem}; {meant + ' ' if meant else ''}it is called "
            f"{verb.__name__}({written})"
        )
        raise BadDescription(msg) from None


def _without_callables(value: Any) -> Any:
    """Functions cannot be kept with a description that may travel to another process."""
    if value.__class__ in (int, float, str, bool) or value is None:
        return value
    if is_python_function(value):
        return PythonFunction()
    if isinstance(value, Mapping):
        return {k: _without_callables(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return tuple(_without_callables(v) for v in value)
    return value
