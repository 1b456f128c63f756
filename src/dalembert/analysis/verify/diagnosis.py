"""Changes in words: the cause, the body or load, the step, and what dimensions and energy say."""

from __future__ import annotations

from fractions import Fraction

from dalembert.analysis.verify.attribution import Attribution, Origin, attribution_of
from dalembert.analysis.verify.changes import Change, single_term
from dalembert.analysis.verify.locating import Correction
from dalembert.analysis.verify.result import TermChange
from dalembert.analysis.verify.truth import Truth
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.dimension_inference import (
    BadDimension,
    DimensionInference,
)
from dalembert.symbolic.units.quantities import DIMENSIONLESS

MOST_ORIGINS = 3


class Diagnosis:
    """Changes of one system in words."""

    def __init__(self, truth: Truth, *, attribute: bool = True) -> None:
        self.truth, self.attribute = truth, attribute

    def report(self, correction: Correction, *, motion: bool) -> tuple[TermChange, ...]:
        """The changes of one correction."""
        return tuple(self._change(change, motion=motion) for change in correction)

    def _change(self, change: Change, *, motion: bool) -> TermChange:
        old, new = change.shown
        origins: list[Origin] = []
        step = ""
        subject = change.new if change.new is not None else change.old
        if change.definition is not None or change.bracket is not None:
            return self._without_origin(change)
        if self.attribute and subject is not None and motion:
            attribution = attribution_of(self.truth)
            origins = attribution.origins(subject)[:MOST_ORIGINS]
            step = self._step(attribution, subject)
        kind = self._cause(change, origins) if motion else change.kind
        start, stop = change.span or (-1, -1)
        return TermChange(
            kind,
            old,
            new,
            str(change),
            start,
            stop,
            "; ".join(map(str, origins)),
            step,
            self._dimension(change),
            self._energy(change, origins) if motion else "",
        )

    def _without_origin(self, change: Change) -> TermChange:
        """A term that names intermediates, which no step of the derivation has."""
        start, stop = change.span or (-1, -1)
        text = "" if change.definition is None else change.definition.text
        return TermChange(change.kind, *change.shown, str(change), start, stop, definition=text)

    def _step(self, attribution: Attribution, term: Scalar) -> str:
        step = attribution.step_with(term)
        return "" if step is None else f"{step[0]}: {step[1]}"

    # ---- causes --------------------------------------------------------------------------------

    def _cause(self, change: Change, origins: list[Origin]) -> str:
        """The kind of the change, and the usual cause where the term shows one."""
        roles = {origin.role for origin in origins}
        ratio = self._ratio(change)
        if change.kind == "missing" and roles == {"load"}:
            return f"missing (a load is forgotten: {origins[0].owner})"
        if change.kind == "missing" and roles and roles <= {"weight"}:
            return f"missing (a weight is forgotten: {origins[0].owner})"
        if change.kind == "missing" and self._rates_in(change.new) >= 2:
            return "missing (a product of velocities is lost)"
        if change.kind == "too many" and self._has_multiplier(change.old):
            return "too many (a reaction that does not belong here)"
        if change.kind == "factor" and roles == {"weight"} and ratio == Fraction(1, 2):
            return "factor (the weight is counted twice)"
        if (
            change.kind == "factor"
            and roles == {"inertia"}
            and ratio not in (2, Fraction(1, 2), -1)
            and self._is_inertia(change.new)
        ):
            return "factor (a moment of inertia about another point?)"
        return change.kind

    def _ratio(self, change: Change) -> Fraction | None:
        t = self.truth.tape
        if change.old is None or change.new is None:
            return None
        old, new = single_term(t, change.old), single_term(t, change.new)
        return None if old is None or new is None else new.coefficient / old.coefficient

    def _rates_in(self, e: Scalar | None) -> int:
        """The degree in speeds and rates."""
        t, kin = self.truth.tape, self.truth.kin
        term = None if e is None else single_term(t, e)
        if term is None:
            return 0
        rates = {str(t.nodes[x][1]) for x in (*kin.u, *kin.qdot)}
        return sum(k for a, k in term.powers if a.name in rates)

    def _has_multiplier(self, e: Scalar | None) -> bool:
        inside = () if e is None else symbols_of(self.truth.tape, (e.i,))
        return not set(inside).isdisjoint(self.truth.multipliers)

    def _is_inertia(self, e: Scalar | None) -> bool:
        inside = () if e is None else symbols_of(self.truth.tape, (e.i,))
        return not set(inside).isdisjoint(self.truth.accelerations) and not self._rates_in(e)

    # ---- checks --------------------------------------------------------------------------------

    def _dimension(self, change: Change) -> str:
        if change.old is None or change.new is None or change.group:
            return ""
        learnt = self._inference()
        try:
            quotient = learnt.dimension_of(change.old.i).multiply(
                learnt.dimension_of(change.new.i), Fraction(-1)
            )
        except BadDimension:
            return "dimension: the term as written mixes dimensions"
        if not quotient.unknown and quotient.known == DIMENSIONLESS:
            return ""
        return f"dimension: {change.shown[0]} has another dimension than the rest of the row"

    def _inference(self) -> DimensionInference:
        """The dimensions that the true equations imply, with those that were declared."""
        kept = self.truth.kept
        if "dimensions" not in kept:
            learnt = DimensionInference(self.truth.tape)
            for name, dimension in self.truth.system.dimensions.items():
                i = self.truth.tape.names.get(name)
                if i is not None:
                    learnt.set_dimension(i, dimension, name)
            for r in self.truth.residuals:
                try:
                    learnt.dimension_of(r)
                except BadDimension:
                    continue
            kept["dimensions"] = learnt
        learnt_: DimensionInference = kept["dimensions"]
        return learnt_

    def _energy(self, change: Change, origins: list[Origin]) -> str:
        """u_r (new − old): the power that the wrong term adds to d(T + V)/dt of a conservative
        system.
        """
        if not self._is_conservative() or change.group or len({o.along for o in origins}) != 1:
            return ""
        kin, t = self.truth.kin, self.truth.tape
        u = next((u for u in kin.u if str(kin.scalar(u)) == origins[0].along), None)
        if u is None:
            return ""
        power = Scalar(t, u) * change.difference
        return (
            f"energy: with this row alone wrong, T + V would change at the rate {power}, up to "
            "the factor of the row"
        )

    def _is_conservative(self) -> bool:
        s, kin = self.truth.kin.system, self.truth.kin
        driven = any(x.kind in ("input", "specified", "state") for x in s.symbols.values())
        moving = any(self.truth.tape.zero != X for X, _ in kin.WX)
        return not (s.loads or s.dissipations or driven or moving)
