"""The result for an answer: the verdict, its bound, and for each wrong row the smallest
corrections.
"""

from __future__ import annotations

from dataclasses import field

from dalembert.analysis.verify.verdict import Kind
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.symbolic.algebra.exact.verdict import Undecided


@dataclass(frozen=True)
class TermChange(Displayable):
    """One wrong term: as written, as it should be, its position and its origin."""

    kind: str
    old: str
    new: str
    sentence: str
    # the columns of the old term in the row, counted from 0; −1 where it is missing
    start: int = -1
    stop: int = -1
    # the body or load that brings the term, and the step of the derivation with the term in ⟦ ⟧
    origin: str = ""
    step: str = ""
    # what the dimensions and the energy say against the old term
    dimension: str = ""
    energy: str = ""
    # the definition of an intermediate in which the term stands; start and stop count there
    definition: str = ""


@dataclass(frozen=True)
class RowReport(Displayable):
    """One row of the answer."""

    text: str
    holds: bool | None
    # motion, identity (a quantity), constraint or integral
    role: str
    # every correction of the least size; each is a set of changes
    corrections: tuple[tuple[TermChange, ...], ...] = ()
    # points of the row, where marks were requested
    points: float | None = None
    most: float | None = None
    note: str = ""

    def pieces(self) -> list[tuple[str, bool]]:
        """The row in pieces: (text, whether it is wrong)."""
        changes = self.corrections[0] if self.corrections else ()
        spans = sorted({(c.start, c.stop) for c in changes if c.start >= 0 and not c.definition})
        parts: list[tuple[str, bool]] = []
        at = 0
        for start, stop in spans:
            if start < at:
                continue
            parts += [(self.text[at:start], False), (self.text[start:stop], True)]
            at = stop
        parts.append((self.text[at:], False))
        return [part for part in parts if part[0]]

    def __str__(self) -> str:
        lines = [f"  {self.text}"]
        carets = "".join(
            ("^" if wrong else " ") * len(text) for text, wrong in self.pieces()
        ).rstrip()
        if carets:
            lines.append(f"  {carets}")
        if self.note:
            lines.append(f"    {self.note}")
        several = len(self.corrections) > 1
        for k, correction in enumerate(self.corrections):
            if several:
                lines.append(f"    {'either' if not k else 'or'}:")
            for change in correction:
                lines += _change_lines(change, "      " if several else "    ")
        if self.holds is False and not self.corrections and not self.note:
            lines.append("    No correction of one or two terms makes this row true.")
        return "\n".join(lines)


def _change_lines(change: TermChange, indent: str) -> list[str]:
    lines = [f"{indent}{change.kind}: {change.sentence}"]
    if change.definition:
        lines.append(f"{indent}  in {change.definition}")
        carets = "^" * (change.stop - change.start)
        lines += [f"{indent}     {' ' * change.start}{carets}"] if carets else []
    if change.origin:
        lines.append(f"{indent}  from: {change.origin}")
    if change.step:
        lines.append(f"{indent}  step: {change.step}")
    lines += [f"{indent}  {line}" for line in (change.dimension, change.energy) if line]
    return lines


@dataclass(frozen=True)
class Verification(Displayable):
    """The verdict on an answer. As a condition, `if da.verify(...):`, it is true where the answer
    is right.
    """

    system: str
    verdict: str
    # True right, False wrong, None undecided
    holds: bool | None
    sentence: str
    # how likely it is at most that something called true is not
    bound: float
    rows: tuple[RowReport, ...]
    # row k of the answer = Σ coefficient · true row
    combination: tuple[str, ...] = ()
    # the factors that must not vanish
    condition: str = ""
    missing: tuple[str, ...] = ()
    substitution: str = ""
    notes: tuple[str, ...] = ()
    points: float | None = None
    most: float | None = None
    rank: int = 0
    wanted: int = 0
    kind: Kind = field(default=Kind.EQUAL, repr=False)

    def __bool__(self) -> bool:
        if self.holds is None:
            raise Undecided(self.sentence)
        return self.holds

    def __str__(self) -> str:
        lines = [f"{self.system}: {self.sentence}"]
        if self.bound:
            lines.append(
                f"The probability that this is wrong is below {max(self.bound, 1e-99):.0e}."
            )
        lines += [f"  {line}" for line in self.combination]
        lines += list(self.notes)
        for k, row in enumerate(self.rows, 1):
            if row.holds is not True or row.note or row.points is not None:
                points = "" if row.points is None else f"  [{row.points:g} of {row.most:g}]"
                state = {True: "right", False: "wrong", None: "undecided"}[row.holds]
                lines += [f"row {k}: {state}{points}", str(row)]
        if self.points is not None:
            lines.append(f"marks: {self.points:g} of {self.most:g}")
        return "\n".join(lines)
