"""v = φ(x) cos ωt: the natural modes of one member, its frame held; EI v⁗ + P v″ = 0: the
compressive forces that bend it at rest.

Uniform members: the roots of the characteristic equation, each enclosed in a ball, none missed
(`characteristic_equation`). Members whose properties vary, or that a turning frame stretches:
polynomials whose degree grows until the frequencies stand (`chebyshev_collocation`).

Source: the field equations and the boundary conditions of Hamilton's extended principle, with ω² or
P as the unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.characteristic_equation import (
    CharacteristicEquation,
    characteristic_equation,
)
from dalembert.analysis.flexible.linear_vibration.chebyshev_collocation import (
    eigenpairs,
    supports_counting,
)
from dalembert.analysis.flexible.linear_vibration.eigenvalue_count import Eigenvalue, eigenvalues
from dalembert.analysis.flexible.linear_vibration.linearization import (
    LinearMemberEquations,
    linearize_member,
    member_title,
)
from dalembert.analysis.flexible.linear_vibration.mode_shapes import (
    ChebyshevShape,
    HasShapes,
    normalize_shapes,
    save_shapes,
    uniform_shapes,
)
from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import NotebookDisplay
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import BallArithmetic
from dalembert.symbolic.algebra.printing.symbol_names import unicode_name

if TYPE_CHECKING:
    from os import PathLike


MAX_MODES: Final = 60


@dataclass(frozen=True)
class NaturalMode(HasShapes):
    """One natural motion: ω, its relative error bound, the wave number βL where there is one,
    the shapes of its fields.
    """

    frequency: float
    error: float
    fields: tuple[str, ...]
    # βL with β⁴ = ρA ω²/EI, or β² = ρA ω²/N: the root of the characteristic equation
    wave_number: float | None
    compute_shapes: Callable[[], dict[str, ChebyshevShape]] = field(repr=False, compare=False)


@dataclass(frozen=True)
class MemberModes(NotebookDisplay):
    """The natural modes of a member, lowest first, and where they come from."""

    member: Member
    modes: tuple[NaturalMode, ...]
    characteristic: tuple[CharacteristicEquation, ...]
    remarks: tuple[str, ...]

    @property
    def frequencies(self) -> list[float]:
        """ω₁, ω₂, … in radians per unit of time."""
        return [m.frequency for m in self.modes]

    @property
    def wave_numbers(self) -> list[float | None]:
        """β₁L, β₂L, …"""
        return [m.wave_number for m in self.modes]

    def __getitem__(self, k: int) -> NaturalMode:
        return self.modes[k]

    def __repr__(self) -> str:
        return (
            f"MemberModes({self.member.name!r}: ω = "
            f"{', '.join(f'{m.frequency:.6g}' for m in self.modes)})"
        )

    def __len__(self) -> int:
        return len(self.modes)

    def __str__(self) -> str:
        count = f"{len(self.modes)} natural mode{'s' * (len(self.modes) > 1)}"
        rows = [(m.fields, m.frequency, m.wave_number) for m in self.modes]
        return eigenvalue_table(
            member_title(self.member, count),
            ("mode", "of", "ω", "βL"),
            rows,
            self.characteristic,
            self.remarks,
        )

    def plot(self, path: str | PathLike[str], modes: Sequence[int] | None = None) -> None:
        """The mode shapes, as an image."""
        shown = [
            (k, m)
            for k, m in enumerate(self.modes, 1)
            if m.shapes and (modes is None or k in modes)
        ]
        named = [
            (f"{k}: {m.fields[0]}, ω = {m.frequency:.6g}", m.shapes[m.fields[0]]) for k, m in shown
        ]
        save_shapes(named, f"{self.member.name}: mode shapes", "shape", path)


def member_modes(
    system: System,
    member: str | Member | None = None,
    count: int = 6,
    *,
    values: Mapping[Any, Any] | None = None,
) -> MemberModes:
    """The lowest natural modes of a member, its frame fixed or in prescribed motion.

    member   which one, by name; may be left out where there is only one
    values   constants that differ from their declared values, and coordinates at which the frame is
             held
    """
    wanted = validate_count("modes", count)
    modes: list[NaturalMode] = []
    equations: list[CharacteristicEquation] = []
    remarks: list[str] = []
    for motion in linearize_member(system, member, values=values):
        problem = BoundaryValueProblem(motion)
        motions, equation, degree = eigenpairs_of(problem, wanted)
        modes += [
            NaturalMode(e.value**0.5, e.error / 2, motion.fields, wave, shaped)
            for e, wave, shaped in motions
        ]
        equations += [] if equation is None else [equation]
        if degree:
            how = f"polynomials of degree {degree}; the error is the change from the previous one"
            remarks.append(f"properties vary along the member: {how}")
        elif equation is None:
            remarks.append(_determinant_note(motion))
    modes.sort(key=lambda m: m.frequency)
    worst = max((m.error for m in modes[:wanted]), default=0.0)
    counted = (
        "counting shows that no mode is missing"
        if supports_counting(problem)
        else "an end hangs slack, so modes cannot be counted"
    )
    remarks.insert(0, f"relative error of ω: at most {worst:.0e}; {counted}")
    return MemberModes(
        motion.member, tuple(modes[:wanted]), tuple(equations), tuple(dict.fromkeys(remarks))
    )


def validate_count(what: str, count: object) -> int:
    """A number of modes or loads that can be computed."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_MODES:
        msg = f"{what}: ask for a whole number from 1 to {MAX_MODES}, not {count!r}"
        raise BadDescription(msg)
    return count


# λ, its wave number, and its shapes on request
LazyEigenpair = tuple[Eigenvalue, float | None, Callable[[], dict[str, ChebyshevShape]]]


def eigenpairs_of(
    problem: BoundaryValueProblem, wanted: int
) -> tuple[list[LazyEigenpair], CharacteristicEquation | None, int]:
    """The lowest eigenvalues of one small motion, and what they come from: the characteristic
    equation, or polynomials of a degree.
    """
    if not problem.motion.is_uniform:
        pairs, degree = eigenpairs(problem, wanted)
        return [(e, None, partial(normalize_shapes, shapes)) for e, shapes in pairs], None, degree
    equation = characteristic_equation(problem.motion)
    lazy_pairs: list[LazyEigenpair] = []
    for e in eigenvalues(problem, wanted):
        shaped = partial(uniform_shapes, problem, e) if e.value and e.multiplicity == 1 else dict
        lazy_pairs += [(e, _wave_number(problem, equation, e), shaped)] * e.multiplicity
    return lazy_pairs, equation, 0


def _wave_number(
    problem: BoundaryValueProblem, equation: CharacteristicEquation | None, e: Eigenvalue
) -> float | None:
    """βL = L (ω² c₁/c₄)^¼ in balls, so that every digit of a float is right."""
    import flint

    if equation is None or len(equation.arguments) != 1:
        return None
    (form,) = problem.motion.equations.values()
    order = problem.order[problem.motion.fields[0]]
    with flint.ctx.workdps(40):
        balls = BallArithmetic()
        c0, c1 = problem.row(form, balls.const(0), balls)
        power = abs(e.ball * (c1[0] if problem.unknown == "frequency" else c1[2]) / c0[-1])
        # under a compressive force the equation is of second order in kL
        root = (
            power.sqrt() if order == 2 or problem.unknown == "compression" else power.sqrt().sqrt()
        )
        return float((root * problem.length_as(balls)).mid())


def _determinant_note(motion: LinearMemberEquations) -> str:
    names = ", ".join(motion.fields)
    return (
        f"{names}: coupled, so the characteristic equation is det [B₀; B_L exp(A(ω) L)] = 0 "
        f"for "
        f"y′ = A(ω) y with y = ({names}, …)"
    )


def eigenvalue_table(
    title: str,
    head: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], float, float | None]],
    characteristic: Sequence[CharacteristicEquation],
    remarks: Sequence[str],
) -> str:
    """Eigenvalues with their fields and wave numbers in columns, below the characteristic
    equations.
    """
    cells = [head]
    for k, (fields, value, wave) in enumerate(rows, 1):
        cells.append(
            (
                str(k),
                ", ".join(map(unicode_name, fields)),
                f"{value:.16g}",
                "–" if wave is None else f"{wave:.16g}",
            )
        )
    if all(wave is None for _, _, wave in rows):
        cells = [row[:3] for row in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)).rstrip() for row in cells]
    return "\n".join(
        [
            title,
            *dict.fromkeys(f"characteristic equation  {e}" for e in characteristic),
            *lines,
            *remarks,
        ]
    )


# ---- buckling ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CriticalLoad(HasShapes):
    """P at which the member buckles, its relative error bound, kL with k² = P/EI, and the shapes
    it buckles into.
    """

    force: float
    error: float
    fields: tuple[str, ...]
    wave_number: float | None
    compute_shapes: Callable[[], dict[str, ChebyshevShape]] = field(repr=False, compare=False)


@dataclass(frozen=True)
class MemberBuckling(NotebookDisplay):
    """The critical compressive forces of a member, lowest first."""

    member: Member
    loads: tuple[CriticalLoad, ...]
    characteristic: tuple[CharacteristicEquation, ...]
    remarks: tuple[str, ...]

    @property
    def critical(self) -> float:
        """The lowest critical force."""
        return self.loads[0].force

    @property
    def forces(self) -> list[float]:
        """P₁, P₂, …"""
        return [load.force for load in self.loads]

    def __repr__(self) -> str:
        return (
            f"MemberBuckling({self.member.name!r}: P = "
            f"{', '.join(f'{load.force:.6g}' for load in self.loads)})"
        )

    def __str__(self) -> str:
        title = member_title(self.member, "critical compressive forces")
        rows = [(load.fields, load.force, load.wave_number) for load in self.loads]
        return eigenvalue_table(
            title, ("load", "of", "P", "kL"), rows, self.characteristic, self.remarks
        )

    def plot(self, path: str | PathLike[str]) -> None:
        """The shapes into which the member buckles, as an image."""
        bent = [(k, load) for k, load in enumerate(self.loads, 1) if load.shapes]
        named = [(f"{k}: P = {load.force:.6g}", load.shapes[load.fields[0]]) for k, load in bent]
        save_shapes(named, f"{self.member.name}: buckling", "shape", path)


def member_buckling(
    system: System,
    member: str | Member | None = None,
    count: int = 3,
    *,
    values: Mapping[Any, Any] | None = None,
) -> MemberBuckling:
    """The lowest compressive forces under which a member buckles; they replace the tension it was
    declared with.

    The force keeps its direction, and the far end is free to approach the near one.
    """
    wanted = validate_count("critical loads", count)
    loads: list[CriticalLoad] = []
    equations: list[CharacteristicEquation] = []
    remarks: list[str] = []
    for motion in linearize_member(system, member, values=values, with_compression=True):
        if motion.compression not in motion.symbols:
            # stretch and twist do not notice the force
            continue
        motions, equation, degree = eigenpairs_of(
            BoundaryValueProblem(motion, "compression"), wanted
        )
        loads += [
            CriticalLoad(e.value, e.error, motion.fields, wave, shaped)
            for e, wave, shaped in motions
        ]
        equations += [] if equation is None else [equation]
        if degree:
            remarks.append(
                f"properties vary: polynomials of degree {degree}; the error is the change from "
                f"the previous one"
            )
    lowest = tuple(sorted(loads, key=lambda load: load.force)[:wanted])
    worst = max((load.error for load in lowest), default=0.0)
    remarks.insert(
        0, f"relative error of P: at most {worst:.0e}; counting shows that none is missing"
    )
    return MemberBuckling(motion.member, lowest, tuple(equations), tuple(dict.fromkeys(remarks)))
