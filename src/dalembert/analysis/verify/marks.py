"""Points for each row and each term of an answer, by a scheme that a teacher can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from dalembert.analysis.verify.result import RowReport, TermChange, Verification
from dalembert.analysis.verify.verdict import Kind
from dalembert.errors import Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.foundation.suggestions import suggest_name

_COSTS = {
    "sign": 0.25,
    "factor": 0.25,
    "missing": 0.35,
    "too many": 0.35,
    "sin for cos": 0.35,
    "wrong angle": 0.35,
    "wrong name or index": 0.35,
    "a factor missing or too many": 0.25,
}


@dataclass(frozen=True)
class MarkScheme(Displayable):
    """Points for a right answer, and the fraction of a row that each kind of error costs."""

    most: float = 10.0
    # the part of a row's points that one wrong term costs
    costs: Mapping[str, float] = field(default_factory=lambda: dict(_COSTS))
    # the part that is left where no small correction is known
    unlocated: float = 0.0
    # the part for a right answer in other coordinates or signs, and with rounded numbers
    substituted: float = 1.0
    rounded: float = 1.0
    # the part for rows that are true only where a factor does not vanish
    conditional: float = 0.8
    decimals: int = 1

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> MarkScheme:
        """A scheme from a table of a problem file; names that it does not have are refused."""
        known = set(cls.__dataclass_fields__)
        for name in data:
            if name not in known:
                msg = (
                    f"marks: there is no '{name}'; "
                    f"{suggest_name(name, known) or 'it has ' + ', '.join(sorted(known))}"
                )
                raise Unknown(msg)
        costs = {**_COSTS, **data.get("costs", {})}
        for kind, cost in costs.items():
            if kind not in _COSTS or not 0 <= cost <= 1:
                msg = (
                    f"marks: costs has {kind} = {cost}; a kind of {', '.join(_COSTS)} with a "
                    "number from 0 to 1"
                )
                raise Unknown(msg)
        return cls(**{**data, "costs": costs})

    def cost(self, change: TermChange) -> float:
        """The part of a row's points that a wrong term costs."""
        return self.costs.get(change.kind.partition(" (")[0], 0.35)


def with_marks(result: Verification, marks: float | MarkScheme) -> Verification:
    """The result with points for each row."""
    scheme = marks if isinstance(marks, MarkScheme) else MarkScheme(most=_number(marks))
    wanted = max(result.wanted, len(result.rows), 1)
    each = scheme.most / wanted
    rows = tuple(_row(row, each, scheme, result.kind) for row in result.rows)
    total = min(sum(row.points or 0.0 for row in rows), scheme.most)
    if result.kind is Kind.SUBSET:
        total = scheme.most * result.rank / max(result.wanted, 1)
    return replace(result, rows=rows, points=round(total, scheme.decimals), most=scheme.most)


def _number(marks: Any) -> float:
    if isinstance(marks, bool) or not isinstance(marks, int | float) or not 0 < marks < 1e6:
        msg = f"marks={marks!r}: give a positive number of points, or a MarkScheme"
        raise Unknown(msg)
    return float(marks)


def _row(row: RowReport, each: float, scheme: MarkScheme, kind: Kind) -> RowReport:
    if row.holds:
        part = {
            Kind.SUBSTITUTED: scheme.substituted,
            Kind.ROUNDED: scheme.rounded,
            Kind.CONDITIONAL: scheme.conditional,
        }.get(kind, 1.0)
    elif row.corrections:
        part = max(0.0, 1.0 - sum(scheme.cost(change) for change in row.corrections[0]))
    else:
        part = scheme.unlocated
    return replace(
        row, points=round(each * part, scheme.decimals + 1), most=round(each, scheme.decimals + 1)
    )
