"""A δq = 0, δW = Σ Q_k δq_k, δV = Σ ∂V/∂q_k δq_k: how the equations of equilibrium come about, line by line.

Source: Mei85 (7.12)–(7.13), (7.19), (7.23), (7.39)–(7.40).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Linear, gradient
from dalembert.algebra.scalar import Scalar
from dalembert.kinetics.generalized_forces import virtual_work_of
from dalembert.notebook import Shown
from dalembert.statics.rest import Rest


@dataclass(frozen=True)
class StaticStep(Shown):
    """What is done, why, and the lines that it gives for this system."""

    title: str
    source: str
    why: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.title}  [{self.source}]", self.why, *(f"  {line}" for line in self.lines)])


def work_steps(rest: Rest, equations: Sequence[Scalar]) -> Iterator[StaticStep]:
    """By virtual work."""
    yield from _displacements(rest)
    why = "Each load times the displacement of the place where it acts, all velocities being zero; reactions of ideal constraints do none."
    yield StaticStep("Virtual work of every load", "Mei85 (7.39)–(7.40)", why, tuple(_works(rest)))
    yield from _result(rest, equations, "δW", "Mei85 (7.19)")


def potential_steps(rest: Rest, equations: Sequence[Scalar]) -> Iterator[StaticStep]:
    """By the potential energy."""
    V = rest.tape.sub(rest.V, rest.T0)
    name = "V − T₀" if rest.moves else "V"
    why = "Loads that have a potential need not be looked at one by one" + ("; what turns steadily counts by −T₀." if rest.moves else ".")
    yield StaticStep("Potential energy", "Mei85 (7.20)", why, (f"{name} = {Scalar(rest.tape, V)}",))
    yield from _displacements(rest)
    slopes = gradient(rest.tape, {V: rest.tape.one}, rest.kin.q)
    varied = _sum(rest, zip(_names(rest), slopes, strict=True))
    why = "The change of the potential energy through the virtual displacements, to the first order."
    yield StaticStep("Its variation", "Mei85 (7.21)", why, (f"δ{f'({name})' if rest.moves else name} = {varied}",))
    yield from _result(rest, equations, "δV", "Mei85 (7.23)")


def _displacements(rest: Rest) -> Iterator[StaticStep]:
    kin = rest.kin
    if not kin.rows:
        why = "No row restricts them: every δq is arbitrary."
        yield StaticStep("Virtual displacements", "Mei85 7.3", why, (", ".join(f"δ{n}" for n in _names(rest)),))
        return
    lines = [f"{_sum(rest, ((_names(rest)[k], a) for k, a in row.A.items()))} = 0    ({row.name})" for row in kin.rows]
    why = "At held time: small displacements that the rows allow, A δq = 0. What a row does with time does not enter."
    yield StaticStep("Virtual displacements", "Mei85 (7.12)–(7.13)", why, tuple(lines))
    linear = Linear(rest.tape, kin.u)
    free = _free(rest)
    solved = []
    for name, e in zip(_names(rest), kin.qdot_of_u, strict=True):
        solved.append(f"δ{name} = {_sum(rest, ((free[r], w) for r, w in linear(e)[1].items()))}")
    why = "Solved for those that stay independent, as the rates are by the speeds."
    new = tuple(line for line in solved if len(set(line.split(" = "))) > 1)
    yield StaticStep("Independent displacements", "Mei85 (7.13)", why, new)


def _works(rest: Rest) -> Iterator[str]:
    kin, t = rest.kin, rest.tape
    field = kin.system.field
    if field is not None:
        for b in kin.system.bodies:
            yield _work(rest, f"weight of {b.name}", virtual_work_of(kin, [(b.mass * field.g, b.G)], []))
    for load in kin.system.loads:
        yield _work(rest, load.name, virtual_work_of(kin, load.forces, load.torques))
    for p in kin.system.potentials:
        yield _work(rest, p.name, [t.neg(d) for d in gradient(t, {kin.in_rates(p.V.i): t.one}, kin.q)])


def _work(rest: Rest, name: str, Q: Sequence[int]) -> str:
    return f"{name}: δW = {_sum(rest, zip(_names(rest), map(rest.still, Q), strict=True))}"


def _result(rest: Rest, equations: Sequence[Scalar], what: str, source: str) -> Iterator[StaticStep]:
    kin = rest.kin
    rows = [row.name for row in kin.rows if row.phi is not None and not row.is_norm]
    lines = [f"δ{name}: {e} = 0" for name, e in zip(_free(rest), equations, strict=False)]
    lines += [f"{name}: {e} = 0" for name, e in zip(rows, equations[kin.n_u :], strict=True)]
    besides = "; the rows hold besides." if rows else "."
    why = f"{what} = 0 for every independent displacement, so each of its coefficients vanishes{besides}"
    yield StaticStep("Equations of equilibrium", source, why, tuple(lines))


def _free(rest: Rest) -> list[str]:
    """q where an independent speed is q̇ by name or by definition, else the speed itself."""
    q = dict(zip(rest.kin.qdot, rest.kin.q, strict=True))
    named = {u: q[e] for u, e in zip(rest.kin.u, rest.kin.definitions, strict=True) if e in q}
    return [str(Scalar(rest.tape, named.get(u, q.get(u, u)))) for u in rest.kin.u]


def _names(rest: Rest) -> list[str]:
    return [str(Scalar(rest.tape, q)) for q in rest.kin.q]


def _sum(rest: Rest, parts: Iterable[tuple[str, int]]) -> str:
    """(a) δx + (b) δy, without what vanishes."""
    t, given = rest.tape, list(parts)
    terms = []
    for (name, e), gone in zip(given, shown_zero(t, [e for _, e in given]), strict=True):
        if not gone:
            text = str(Scalar(t, e))
            sign = {"1": "", "-1": "−", "−1": "−"}.get(text)
            several = " + " in text or " − " in text
            factor = f"({text}) " if several else f"{text} "
            terms.append(f"{factor if sign is None else sign}δ{name}")
    return " + ".join(terms).replace("+ −", "− ") or "0"
