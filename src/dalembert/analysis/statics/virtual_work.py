"""Σ F·δr = 0 and δV = 0: the equations of equilibrium by virtual work and by stationary potential.

With A δq = 0, δW = Σ Q_k δq_k or δV = Σ ∂V/∂q_k δq_k they are printed line by line.

e(x) = 0 is solved for every value there is, as far as that can be decided. The equation is cut into
factors. One that is linear in cos x and sin x, or a polynomial in x, in cos x or in sin x whose
roots are all found, has no other solutions than those given, whole turns aside. What SymPy finds
beyond that may not be all.

Source: Mei85 (7.12)–(7.13), (7.19), (7.23), (7.39)–(7.40).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from dalembert.analysis.statics.static_state import StaticState
from dalembert.errors import NotApplicable, NotLinear
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.kinetics.generalized_forces import virtual_work_coefficients
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.verdict import Verdict
from dalembert.symbolic.algebra.exact.zero_test import decide_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    LinearCoefficients,
    copy_expressions,
    gradient,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node
from dalembert.symbolic.algebra.sparse_matrix import Column
from dalembert.symbolic.algebra.tape import Tape


@dataclass(frozen=True)
class StaticStep(Displayable):
    """One step: title, reason and the resulting lines for this system."""

    title: str
    source: str
    why: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.title}  [{self.source}]", self.why, *(f"  {line}" for line in self.lines)]
        )


StepWriter = Callable[[StaticState, Sequence[Scalar]], Iterator[StaticStep]]


@dataclass(frozen=True)
class StaticEquations(Displayable):
    """equations = 0 along the independent speeds, with the holonomic rows, at q̇ = 0."""

    system: System = field(repr=False)
    principle: str
    source: str
    tape: Tape = field(repr=False)
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    derive_steps: Callable[[], tuple[StaticStep, ...]] = field(repr=False, compare=False)

    @property
    def steps(self) -> tuple[StaticStep, ...]:
        """Their derivation."""
        return self.derive_steps()

    def explain(self) -> str:
        """The way to the equations, step by step: the displacements that the rows allow, what
        the loads do, the coefficients.
        """
        numbered = [f"{k}. {step}" for k, step in enumerate(self.steps, 1)]
        return "\n\n".join([f"{self.principle} ({self.source})", *numbered])

    @property
    def equations(self) -> tuple[Scalar, ...]:
        """One expression for each independent speed, then one for each holonomic row; each
        vanishes in equilibrium.
        """
        return tuple(Scalar(self.tape, i) for i in (*self.nodes, *self.rows))

    def agrees(self, other: StaticEquations) -> Verdict:
        """Whether another route gives the same equations: shown to, shown not to, or undecided."""
        there = copy_expressions(other.tape, self.tape, other.nodes)
        if len(there) != len(self.nodes):
            return Verdict(holds=False)
        return decide_zero(
            self.tape, (Column(self.tape, self.nodes) - Column(self.tape, there)).nodes
        ).verdict

    def solve(self, unknown: Scalar | str) -> Solutions:
        """The values of one coordinate in equilibrium, as expressions, where an equation in it
        alone is elementary.
        """
        name = unknown.name if isinstance(unknown, Scalar) else unknown
        q = {s.name: s.scalar.i for s in self.system.symbols.values() if s.kind == "coordinate"}
        if name not in q:
            msg = f"equilibrium: {name} is not a coordinate; these are {', '.join(q)}"
            raise NotApplicable(msg)
        t, others = self.tape, {i for n, i in q.items() if n != name}
        for e in (*self.nodes, *self.rows):
            inside = set(symbols_of(t, (e,)))
            if q[name] in inside and not inside & others:
                return solutions(Scalar(t, e), Scalar(t, q[name]))
        msg = (
            f"equilibrium: no equation contains {name} alone; da.equilibrium solves for all "
            f"coordinates together, by numbers"
        )
        raise NotApplicable(msg)

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.principle} ({self.source})", *(f"  {e} = 0" for e in self.equations)]
        )


def virtual_work(system: System) -> StaticEquations:
    """F_r = Σ F·v_r + Σ T·ω_r = 0      (r = 1, …, p)

    The work of the applied loads through virtual displacements compatible with the constraints is
    zero; reactions do not enter. While prescribed motions run, the inertia forces of the masses
    they carry are counted with the loads.

    Source: Mei85 (7.19).
    """
    rest = StaticState(kinematics(system))
    return _static_equations(
        system, rest, rest.virtual_work, "Virtual work", "Mei85 (7.19)", work_steps
    )


def stationary_potential(system: System) -> StaticEquations:
    """−∂(V − T₀)/∂q · W_r = 0      (r = 1, …, p)

    The potential energy has a stationary value in equilibrium. Applies where every load that acts
    at rest has a potential.

    Source: Mei85 (7.23).
    """
    rest = StaticState(kinematics(system))
    rest.check_steady_motion()
    return _static_equations(
        system,
        rest,
        rest.potential_gradient,
        "Stationary potential",
        "Mei85 (7.23)",
        potential_steps,
    )


def _static_equations(
    system: System,
    rest: StaticState,
    nodes: list[int],
    principle: str,
    source: str,
    write_steps: StepWriter,
) -> StaticEquations:
    rest.check_rows_at_rest()
    rows = tuple(row.phi for row in rest.kin.rows if row.phi is not None and not row.is_norm)
    equations = [Scalar(rest.tape, i) for i in (*nodes, *rows)]
    return StaticEquations(
        system,
        principle,
        source,
        rest.tape,
        tuple(nodes),
        rows,
        lambda: tuple(write_steps(rest, equations)),
    )


# ---- their derivation, line by line -----------------------------------------------------------


def work_steps(rest: StaticState, equations: Sequence[Scalar]) -> Iterator[StaticStep]:
    """By virtual work."""
    yield from _displacement_steps(rest)
    why = (
        "Each load times the displacement of its point of application, all velocities being "
        "zero; "
        "reactions of ideal constraints do none."
    )
    yield StaticStep(
        "Virtual work of every load", "Mei85 (7.39)–(7.40)", why, tuple(_virtual_work_lines(rest))
    )
    yield from _equilibrium_step(rest, equations, "δW", "Mei85 (7.19)")


def potential_steps(rest: StaticState, equations: Sequence[Scalar]) -> Iterator[StaticStep]:
    """By the potential energy."""
    V = rest.tape.sub(rest.V, rest.T0)
    name = "V − T₀" if rest.has_prescribed_motion else "V"
    why = "Loads that have a potential need not be treated separately" + (
        "; what turns steadily counts by −T₀." if rest.has_prescribed_motion else "."
    )
    yield StaticStep("Potential energy", "Mei85 (7.20)", why, (f"{name} = {Scalar(rest.tape, V)}",))
    yield from _displacement_steps(rest)
    slopes = gradient(rest.tape, {V: rest.tape.one}, rest.kin.q)
    varied = _variation_text(rest, zip(_names(rest), slopes, strict=True))
    why = (
        "The change of the potential energy through the virtual displacements, to the first order."
    )
    yield StaticStep(
        "Its variation",
        "Mei85 (7.21)",
        why,
        (f"δ{f'({name})' if rest.has_prescribed_motion else name} = {varied}",),
    )
    yield from _equilibrium_step(rest, equations, "δV", "Mei85 (7.23)")


def _displacement_steps(rest: StaticState) -> Iterator[StaticStep]:
    kin = rest.kin
    if not kin.rows:
        why = "No constraint restricts them: every δq is arbitrary."
        yield StaticStep(
            "Virtual displacements", "Mei85 7.3", why, (", ".join(f"δ{n}" for n in _names(rest)),)
        )
        return
    lines = [
        f"{_variation_text(rest, ((_names(rest)[k], a) for k, a in row.A.items()))} = 0    "
        f"({row.name})"
        for row in kin.rows
    ]
    why = (
        "At fixed time: small displacements that the constraints allow, A δq = 0. Explicit time "
        "in a constraint does not enter."
    )
    yield StaticStep("Virtual displacements", "Mei85 (7.12)–(7.13)", why, tuple(lines))
    linear = LinearCoefficients(rest.tape, kin.u)
    free = _independent_names(rest)
    solved = []
    for name, e in zip(_names(rest), kin.qdot_of_u, strict=True):
        solved.append(
            f"δ{name} = {_variation_text(rest, ((free[r], w) for r, w in linear(e)[1].items()))}"
        )
    why = "Solved for the dependent ones, as the rates are by the speeds."
    new = tuple(line for line in solved if len(set(line.split(" = "))) > 1)
    yield StaticStep("Independent displacements", "Mei85 (7.13)", why, new)


def _virtual_work_lines(rest: StaticState) -> Iterator[str]:
    kin, t = rest.kin, rest.tape
    field = kin.system.gravity_field
    if field is not None:
        for b in kin.system.bodies:
            yield _virtual_work_line(
                rest,
                f"weight of {b.name}",
                virtual_work_coefficients(kin, [(b.mass * field.g, b.G)], []),
            )
    for load in kin.system.loads:
        yield _virtual_work_line(
            rest, load.name, virtual_work_coefficients(kin, load.forces, load.torques)
        )
    for p in kin.system.potentials:
        yield _virtual_work_line(
            rest, p.name, [t.neg(d) for d in gradient(t, {kin.in_rates(p.V.i): t.one}, kin.q)]
        )


def _virtual_work_line(rest: StaticState, name: str, Q: Sequence[int]) -> str:
    return (
        f"{name}: δW = "
        f"{_variation_text(rest, zip(_names(rest), map(rest.at_zero_rates, Q), strict=True))}"
    )


def _equilibrium_step(
    rest: StaticState, equations: Sequence[Scalar], what: str, source: str
) -> Iterator[StaticStep]:
    kin = rest.kin
    rows = [row.name for row in kin.rows if row.phi is not None and not row.is_norm]
    lines = [
        f"δ{name}: {e} = 0" for name, e in zip(_independent_names(rest), equations, strict=False)
    ]
    lines += [f"{name}: {e} = 0" for name, e in zip(rows, equations[kin.n_u :], strict=True)]
    besides = "; the constraint equations hold in addition." if rows else "."
    why = (
        f"{what} = 0 for every independent displacement, so each of its coefficients "
        f"vanishes{besides}"
    )
    yield StaticStep("Equations of equilibrium", source, why, tuple(lines))


def _independent_names(rest: StaticState) -> list[str]:
    """q where an independent speed is q̇ by name or by definition, else the speed itself."""
    q = dict(zip(rest.kin.qdot, rest.kin.q, strict=True))
    named = {u: q[e] for u, e in zip(rest.kin.u, rest.kin.definitions, strict=True) if e in q}
    return [str(Scalar(rest.tape, named.get(u, q.get(u, u)))) for u in rest.kin.u]


def _names(rest: StaticState) -> list[str]:
    return [str(Scalar(rest.tape, q)) for q in rest.kin.q]


def _variation_text(rest: StaticState, parts: Iterable[tuple[str, int]]) -> str:
    """(a) δx + (b) δy, without what vanishes."""
    t, given = rest.tape, list(parts)
    terms = []
    for (name, e), gone in zip(given, provably_zero(t, [e for _, e in given]), strict=True):
        if not gone:
            text = str(Scalar(t, e))
            sign = {"1": "", "-1": "−", "−1": "−"}.get(text)
            several = " + " in text or " − " in text
            factor = f"({text}) " if several else f"{text} "
            terms.append(f"{factor if sign is None else sign}δ{name}")
    return " + ".join(terms).replace("+ −", "− ") or "0"


# ---- solved as a formula -------------------------------------------------------------------------


@dataclass(frozen=True)
class Solutions(Displayable):
    """The values of a coordinate in equilibrium, each where it is real.

    `complete` says that there are no others, the whole turns of an angle aside; otherwise there may
    be.
    """

    unknown: str
    values: tuple[Scalar, ...]
    complete: bool

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: int) -> Scalar:
        return self.values[k]

    def __str__(self) -> str:
        listed = [f"{self.unknown} = {value}" for value in self.values] or [
            f"no value of {self.unknown}"
        ]
        others = (
            "there are no others"
            if self.complete
            else "there may be others; da.equilibria searches by numbers"
        )
        return "\n".join([*listed, others])


def solutions(e: Scalar, x: Scalar) -> Solutions:
    """x from e(x) = 0: by one division where e is linear, otherwise by the factors of e."""
    t = e.tape
    try:
        c, k = LinearCoefficients(t, [x.i])(e.i)
    except NotLinear:
        return _solve_factors(e, x)
    return Solutions(str(x), (Scalar(t, t.neg(t.div(c, k[0]))),), complete=True)


def _solve_factors(e: Scalar, x: Scalar) -> Solutions:
    import sympy

    unknown = x.sympy()
    numerator = sympy.fraction(sympy.together(e.sympy()))[0]
    factors = [f for f, _ in sympy.factor_list(numerator)[1] if f.has(unknown)]
    try:
        parts = [_roots(f, unknown) for f in factors]
    except (NotImplementedError, TypeError, ValueError):
        parts = [([], False)]
    values = dict.fromkeys(v for roots, _ in parts for v in roots)
    complete = all(whole for _, whole in parts)
    if not values and not complete:
        msg = f"equilibrium: {x} is not elementary here; da.equilibrium solves by numbers"
        raise NotApplicable(msg)
    return Solutions(
        str(x), tuple(Scalar(e.tape, as_node(e.tape, v)) for v in values), complete=complete
    )


def _roots(f: Any, x: Any) -> tuple[list[Any], bool]:
    """The roots of one factor, and whether they are all."""
    import sympy

    C, S = sympy.symbols("C S", cls=sympy.Dummy)
    trigonometric_form = f.subs({sympy.cos(x): C, sympy.sin(x): S})
    if not trigonometric_form.has(x):
        return _trigonometric_roots(f, trigonometric_form, x, C, S)
    if f.is_polynomial(x):
        return _polynomial_roots(f, x)
    return sympy.solve(f, x), False


def _trigonometric_roots(f: Any, p: Any, x: Any, C: Any, S: Any) -> tuple[list[Any], bool]:
    """p(cos x, sin x) = 0"""
    import sympy

    if sympy.Poly(p, C, S).total_degree() == 1:
        return _linear_trigonometric_roots(p.coeff(C), p.coeff(S), p.subs({C: 0, S: 0})), True
    if not p.has(S):
        cosines, whole = _polynomial_roots(p, C)
        return [v for c in cosines for v in _linear_trigonometric_roots(1, 0, -c)], whole
    if not p.has(C):
        sines, whole = _polynomial_roots(p, S)
        return [v for s in sines for v in _linear_trigonometric_roots(0, 1, -s)], whole
    return sympy.solve(f, x), False


def _linear_trigonometric_roots(a: Any, b: Any, c: Any) -> list[Any]:
    """a cos x + b sin x + c = 0: x = atan2(b, a) ± acos(−c/√(a² + b²)), in the simplest form"""
    import sympy

    if b == 0:
        first = sympy.acos(-c / a)
        return [first, -first]
    if a == 0:
        first = sympy.asin(-c / b)
        return [first, sympy.pi - first]
    if c == 0:
        first = sympy.atan(-a / b)
        return [first, first + sympy.pi]
    middle, half = sympy.atan2(b, a), sympy.acos(-c / sympy.sqrt(a**2 + b**2))
    return [middle + half, middle - half]


def _polynomial_roots(p: Any, x: Any) -> tuple[list[Any], bool]:
    import sympy

    polynomial = sympy.Poly(p, x)
    roots = sympy.roots(polynomial)
    return list(roots), sum(roots.values()) == polynomial.degree()
