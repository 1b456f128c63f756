"""theta, end(theta), max(theta), min(theta), mean(theta), time(theta - 1): what is kept of every member.

theta          the value at the times `at`, or at the end where none are given
end(theta)     the value at the end
max, min       the greatest and the least value, over eight places of every step and where parabolas through them have their tops
mean           ∫ g dt / T
time(g)        the first time at which g crosses zero, upwards time(g, up), downwards time(g, down); NaN where it never does
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from dalembert.algebra.scalar import Scalar
from dalembert.ode.lanes.layout import FunctionalKind
from dalembert.simulation.events.event import SIGNS, Direction
from dalembert.studies.members import BadStudy

VALUE: Final = "value"
END: Final = "end"
_CALLED: Final = re.compile(r"\s*(end|max|min|mean|time)\s*\((.*)\)\s*", re.DOTALL)
KINDS: Final = (VALUE, END, *(kind.value for kind in FunctionalKind))


@dataclass(frozen=True)
class Kept:
    """One quantity of every member: what it is called, what is made of which expression."""

    name: str
    kind: str
    expression: Scalar | str
    direction: Direction = "any"

    @property
    def functional(self) -> FunctionalKind | None:
        """What is made of it along the run, if anything."""
        return None if self.kind in (VALUE, END) else FunctionalKind(self.kind)


def read_keep(keep: Any, state: Iterable[str]) -> tuple[Kept, ...]:
    """What a user asks for; by default every coordinate and speed."""
    if keep is None:
        return tuple(Kept(name, VALUE, name) for name in state)
    wanted = [keep] if isinstance(keep, str | Scalar) else list(keep) if isinstance(keep, Iterable) else None
    if wanted is None:
        msg = f"keep = {keep!r:.60}: give expressions, such as keep=['theta', 'max(theta)', 'time(theta - 1, up)']"
        raise BadStudy(msg)
    kept = [_read(each) for each in wanted]
    names = [each.name for each in kept]
    if twice := [name for name in names if names.count(name) > 1]:
        msg = f"keep: {twice[0]!r} is there twice"
        raise BadStudy(msg)
    return tuple(kept)


def _read(wanted: Any) -> Kept:
    if isinstance(wanted, Scalar):
        return Kept(str(wanted), VALUE, wanted)
    if isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in KINDS:
        kind, expression = wanted
        return Kept(f"{kind}({expression})", kind, expression)
    if not isinstance(wanted, str):
        msg = f"keep: {wanted!r:.60} is neither an expression nor a pair such as ('max', s.theta)"
        raise BadStudy(msg)
    called = _CALLED.fullmatch(wanted)
    arguments = _arguments(called[2]) if called else []
    # max(a, b) is the greater of two quantities, max(a) the greatest value of one
    if called is None or not arguments or (called[1] != "time" and len(arguments) > 1):
        return Kept(wanted.strip(), VALUE, wanted)
    name, kind = wanted.strip(), called[1]
    if len(arguments) == 1:
        return Kept(name, kind, arguments[0])
    direction = arguments[1]
    if len(arguments) > 2 or direction not in SIGNS:
        msg = f"keep: {name}: after the expression say 'up', 'down' or nothing"
        raise BadStudy(msg)
    return Kept(name, kind, arguments[0], direction)  # type: ignore[arg-type] # one of SIGNS


def _arguments(text: str) -> list[str]:
    """Split at the commas outside parentheses; nothing where these do not close, as in (a)*max(b)."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return []
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if depth == 0 else []
