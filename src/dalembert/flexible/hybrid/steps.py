"""The steps of Hamilton's extended principle, in the order of the book."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dalembert.algebra.scalar import Scalar
from dalembert.flexible.hybrid.continuum import Continuum
from dalembert.flexible.hybrid.equations import BoundaryCondition, FieldEquation
from dalembert.principles.base import Item, Step, items


@dataclass(frozen=True)
class HybridEnergies:
    """T and V of what is rigid and of what sits on the ends; T̂ and V̂ per length of every member."""

    T: Scalar
    V: Scalar
    T_hat: dict[str, Scalar]
    V_hat: dict[str, Scalar]


_ENERGIES = "Everything the principle asks for: the rigid bodies and the members together."
_LOADS = "Loads without a potential enter by their work through the variations."


def recorded(
    continua: Mapping[str, Continuum], e: HybridEnergies, partial: Sequence[FieldEquation], boundary: Sequence[BoundaryCondition]
) -> Iterator[Step]:
    """From the place of a point to the equations."""
    tag = {n: f" of {n}" if len(continua) > 1 else "" for n in continua}
    yield from _motion(continua, tag)
    yield from _energies(continua, tag, e)
    yield Step(
        "Integrated by parts: what multiplies the variations inside",
        "−Σ (−D_x)^i (−D_t)^j ∂(T̂ − V̂)/∂v_ij = 0",
        tuple(Item(f"δ{p.field}", p.residual) for p in partial),
        "after Bar00 (62)",
        "Derivatives are taken off the variation, which is arbitrary inside: what is left beside it vanishes.",
    )
    yield Step(
        "What multiplies the variations at the ends",
        "(…) δv = 0",
        tuple(Item(_varied(continua[b.member], b), b.residual) for b in boundary if b.kind == "natural"),
        "after Bar00 (62)",
        "The parts leave terms at the ends. Where the support lets a slope or a deflection vary, its factor vanishes: a natural condition; "
        "where it does not, the variation does.",
    )


def _motion(continua: Mapping[str, Continuum], tag: Mapping[str, str]) -> Iterator[Step]:
    yield Step(
        "A point of the member",
        "r − r_P = (x + u − s) e_x + v e_y + w e_z",
        tuple(Item(f"r − r_P{tag[n]}", c.offset(c.places[0])) for n, c in continua.items()),
        "Bar00 (60)",
        "Measured from the frame that carries the member: rigid motion and deflection are told apart.",
    )
    yield Step(
        "Its velocity",
        "ṙ = v_P + d(r − r_P)/dt",
        tuple(Item(f"ṙ{tag[n]}", c.velocity(c.places[0])) for n, c in continua.items()),
        "Bar00 (61)",
        "The frame turns while the deflection changes, so both enter.",
    )
    shortened = [(n, c) for n, c in continua.items() if c.member.shortening]
    if shortened:
        yield Step(
            "Shortening, kept by the axial force N",
            "s′ = ½ (v′)² + ½ (w′)²",
            tuple(Item(f"s′{tag[n]}", c.drawn_in().i) for n, c in shortened),
        )


def _energies(continua: Mapping[str, Continuum], tag: Mapping[str, str], e: HybridEnergies) -> Iterator[Step]:
    yield Step(
        "Kinetic energy per length",
        "T̂ = ½ ρA ṙ·ṙ + ½ ρI (ω·n + v̇′)² + ½ ρI_p (ω·e_x + φ̇)²",
        tuple(Item(f"T̂{tag[n]}", density.i) for n, density in e.T_hat.items()),
        "Bar00 (62)",
        "With the ½ that the print has lost, and the inertia of the sections where it was given.",
    )
    yield Step(
        "Potential energy per length",
        "V̂ = ½ EI (v″)² + ½ EA (u′)² + ½ GJ (φ′)² + N (½ (v′)² − s′) − ρA g·r",
        tuple(Item(f"V̂{tag[n]}", density.i) for n, density in e.V_hat.items()),
    )
    T, V = e.T, e.V
    for n, c in continua.items():
        T, V = (whole + Scalar(whole.tape, c.integrals(part[n].i)) for whole, part in ((T, e.T_hat), (V, e.V_hat)))
    yield Step("The energies", "T = T_rigid + ∫ T̂ dx, V = V_rigid + ∫ V̂ dx", items(("T", "V"), (T.i, V.i)), "", _ENERGIES)
    forces = [Item(f"p{tag[n]}", c.velocities.vector(c.member.load)) for n, c in continua.items() if c.member.load is not None]
    for n, c in continua.items():
        for end, place in zip(c.member.ends, c.places[1:], strict=True):
            loads = (("F", end.force), ("M", end.moment))
            forces += [Item(f"{what}({place.label}){tag[n]}", c.velocities.vector(load)) for what, load in loads if load is not None]
    yield Step("Loads that do virtual work", "δW = ∫ p·δr dx + F·δr + M·δθ", tuple(forces), "", _LOADS)


def _varied(c: Continuum, b: BoundaryCondition) -> str:
    return f"δ{b.field}{'′' * b.order}({c.places[1 + b.end].label})"
