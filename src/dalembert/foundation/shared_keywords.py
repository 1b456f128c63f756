"""Keywords that several functions take: declared once, shown in the signature of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def declare_keywords(types: Mapping[str, Any], defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """The decorator for `def verb(…, **options: Unpack[…])`: `help` and parsers of command lines
    see every key of the TypedDict, with its type and its default.
    """

    def declare(verb: F) -> F:
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind
            )
            for name, kind in types.items()
        ]
        signature = inspect.signature(verb)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        first = next((k for k, p in enumerate(own) if p.kind is p.KEYWORD_ONLY), len(own))
        verb.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own[:first], *added, *own[first:]]
        )
        collected = set(signature.parameters) - {p.name for p in own}
        verb.__annotations__ = {
            **{name: kind for name, kind in verb.__annotations__.items() if name not in collected},
            **types,
        }
        return verb

    return declare


def keyword_names(verb: Callable[..., Any]) -> tuple[tuple[str, ...], int]:
    """The names of all parameters, and how many of them may be given without their names."""
    code = verb.__code__
    signature: inspect.Signature | None = getattr(verb, "__signature__", None)
    if signature is None:
        # read from its code, which is quicker for every public function
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], code.co_argcount
    return tuple(signature.parameters), code.co_argcount
