"""R_r = Σ m a·v_r + Σ Ḣ·ω_r − Σ F·v_r − …: which body or load brings a term, and in which step.

The residual along each speed is the sum of the contributions of bodies, weights, loads and
potentials.
A term is looked up in the normal form of each contribution.
"""

from __future__ import annotations

from functools import cached_property

from dalembert.analysis.verify.changes import single_term
from dalembert.analysis.verify.truth import Truth
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.kinetics.spatial_fields import applied_loads, weights
from dalembert.mechanics.principles.derivation import Step
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import Atom, RationalForm, Term, to_scalar
from dalembert.symbolic.algebra.scalar import Scalar

LIMIT = 3000
MOST_SHOWN = 60
_INERTIA = "inertia"


@dataclass(frozen=True)
class Contribution:
    """What one body or load adds to every residual."""

    label: str
    # inertia, weight, load or potential
    role: str
    owner: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Origin:
    """Where a term comes from: the body or load, the speed it belongs to, and the step that brings
    it.
    """

    label: str
    role: str
    owner: str
    along: str
    step: str = ""
    marked: str = ""

    def __str__(self) -> str:
        step = f"; step “{self.step}”: {self.marked}" if self.step else ""
        return f"{self.label}, along {self.along}{step}"


class Attribution:
    """The contributions of a system, and the terms in each."""

    def __init__(self, truth: Truth) -> None:
        self.truth, self.kin, self.tape = truth, truth.kin, truth.tape
        self._expanded: dict[int, list[tuple[frozenset[tuple[Atom, int]], int]]] = {}

    @cached_property
    def contributions(self) -> list[Contribution]:
        """One for each body, weight, load and potential; their sum is the residuals."""
        if self.kin.system.given_kinetic_energies:
            return []
        parts: dict[tuple[str, str, str], list[int]] = {}
        for b in self.kin.system.bodies:
            label = f"inertia force m a of {b.name}"
            self._add(parts, (label, _INERTIA, b.name), b.G, self.kin.a(b.G).scale(b.mass.i), 1)
            if b.frame is not None and b.inertia is not None:
                label = f"inertia torque dH/dt of {b.name}"
                torque = self._inertia_torque(b.frame, b.inertia.on(self.tape))
                self._add(parts, (label, _INERTIA, b.name), b.frame, torque, 1)
        for name, R, P in weights(self.kin):
            self._add(
                parts,
                (name, "weight", name.removeprefix("weight of ")),
                P,
                self.kin.vector_in_speeds(R),
                -1,
            )
        for name, load, X in applied_loads(self.kin):
            self._add(parts, (f"load {name}", "load", name), X, self.kin.vector_in_speeds(load), -1)
        self._add_potentials(parts)
        return [Contribution(*key, tuple(rows)) for key, rows in parts.items()]

    def _inertia_torque(self, frame: Frame, inertia: Dyadic) -> Vector:
        """dH/dt = I·α + ω × I·ω of one body; several may have the same frame."""
        w = self.kin.w(frame)
        return inertia @ self.kin.alpha(frame) + w.cross(inertia @ w)

    def _add(
        self,
        parts: dict[tuple[str, str, str], list[int]],
        key: tuple[str, str, str],
        place: Point | Frame,
        load: Vector,
        sign: int,
    ) -> None:
        t = self.tape
        rows = parts.setdefault(key, [t.zero] * self.kin.n_u)
        for r, partial in self.kin.partial_velocities(place)[0].items():
            x = partial.dot_node(load)
            rows[r] = t.add(rows[r], x) if sign > 0 else t.sub(rows[r], x)

    def _add_potentials(self, parts: dict[tuple[str, str, str], list[int]]) -> None:
        t, kin = self.tape, self.kin
        linear = LinearCoefficients(t, kin.u)
        for p in kin.system.potentials:
            V_r = linear(kin.coordinate_rate(kin.in_rates(p.V.i)))[1]
            parts[f"potential {p.name}", "potential", p.name] = [
                V_r.get(r, t.zero) for r in range(kin.n_u)
            ]
        for d in kin.system.dissipations:
            D = kin.in_speeds(kin.in_rates(d.D.i))
            parts[f"dissipation {d.name}", "load", d.name] = gradient(t, {D: t.one}, kin.u)

    @cached_property
    def _forms(self) -> list[tuple[Contribution, list[RationalForm]]]:
        forms = []
        for c in self.contributions:
            try:
                forms.append((c, normal_form(self.tape, list(c.rows), limit=LIMIT)))
            except TooLong:
                continue
        return forms

    def origins(self, term: Scalar) -> list[Origin]:
        """Every body and load that brings the term, by its product of symbols; else by its
        constants.
        """
        wanted = self._powers(term)
        exact = [
            self._origin(c, r)
            for c, forms in self._forms
            for r, form in enumerate(forms)
            if wanted is not None and any(_net(form, x) == wanted for x in form.numerator)
        ]
        return exact or self._by_constants(wanted)

    def _powers(self, term: Scalar) -> frozenset[tuple[Atom, int]] | None:
        renamed = Scalar(self.tape, self.truth.renamed(term.i))
        single = single_term(self.tape, renamed)
        return None if single is None else frozenset(single.powers)

    def _origin(self, c: Contribution, r: int) -> Origin:
        return Origin(c.label, c.role, c.owner, str(self.kin.scalar(self.kin.u[r])))

    def _by_constants(self, wanted: frozenset[tuple[Atom, int]] | None) -> list[Origin]:
        """A term in dependent rates has the constants of its body or load."""
        if wanted is None:
            return []
        names = {
            a.name
            for a, _ in wanted
            if a.op == "symbol" and self.tape.names[a.name] not in self.tape.moving
        }
        best: list[tuple[int, Contribution, int]] = []
        for c, forms in self._forms:
            for r, form in enumerate(forms):
                shared = max(
                    (len(names & {a.name for a, _ in x.powers}) for x in form.numerator), default=0
                )
                if names and shared == len(names):
                    best.append((shared, c, r))
        return [self._origin(c, r) for _, c, r in best]

    # ---- steps ---------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the derivation on this tape's own derivation."""
        from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion

        derivation = derive_equations_of_motion(self.kin)
        self._derivation_tape = derivation.tape
        return derivation.steps

    def step_with(self, term: Scalar) -> tuple[str, str] | None:
        """(title, the formula of the step with the term in brackets), the first step whose result
        contains it.
        """
        wanted = self._powers(term)
        if wanted is None:
            return None
        for step in self.steps:
            for item in step.items:
                if not isinstance(item.value, int):
                    continue
                marked = self._mark_term(item.value, wanted)
                if marked:
                    label = item.label if isinstance(item.label, str) else _formula(item.label)
                    return step.title, f"{label} = {marked}"
        return None

    def _mark_term(self, node: int, wanted: frozenset[tuple[Atom, int]]) -> str:
        """The expression with the wanted term in brackets; empty where it has none."""
        terms = self._step_terms(node)
        places = [k for k, (powers, _) in enumerate(terms) if powers == wanted]
        if not places or len(terms) > MOST_SHOWN:
            return ""
        values = [Scalar(self._derivation_tape, value) for _, value in terms]
        texts = [f"⟦{e}⟧" if k in places else str(e) for k, e in enumerate(values)]
        return " + ".join(texts).replace("+ −", "− ").replace("+ ⟦−", "− ⟦")

    def _step_terms(self, node: int) -> list[tuple[frozenset[tuple[Atom, int]], int]]:
        """[(powers, value)] of the terms of a step's result, expanded once; none where there are
        too many.
        """
        if node not in self._expanded:
            tape = self._derivation_tape
            try:
                form = normal_form(tape, [node], limit=LIMIT)[0]
            except TooLong:
                form = RationalForm(())
            below = RationalForm(form.denominator).numerator
            self._expanded[node] = [
                (_net(form, x), to_scalar(RationalForm((x,), below), tape).i)
                for x in form.numerator
            ]
        return self._expanded[node]


def _formula(label: object) -> str:
    from dalembert.symbolic.algebra.printing.formula_layout import formula_text

    return formula_text(label)  # type: ignore[arg-type]


def _net(form: RationalForm, x: Term) -> frozenset[tuple[Atom, int]]:
    """The powers of a term over those of a denominator that is one term."""
    below = dict(form.denominator[0].powers) if len(form.denominator) == 1 else {}
    here = dict(x.powers)
    net = {a: here.get(a, 0) - below.get(a, 0) for a in (*here, *below)}
    return frozenset((a, k) for a, k in net.items() if k)


def attribution_of(truth: Truth) -> Attribution:
    """The contributions of a system, computed once."""
    if "attribution" not in truth.kept:
        truth.kept["attribution"] = Attribution(truth)
    attribution: Attribution = truth.kept["attribution"]
    return attribution
