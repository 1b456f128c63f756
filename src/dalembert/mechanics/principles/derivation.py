"""What every principle returns: a derivation with its steps, its native form and the common
form.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from dalembert.errors import Unknown
from dalembert.foundation.caching import PerOwnerCache
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable, Explanation, report_text
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.equations.equations_of_motion import (
    Equations,
    append_nonlinear_rows,
    common_form,
    project_onto_speeds,
)
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import Location, SpatialField, VelocityPartials
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.formula import Equation, Formula, Name, Partial, Symbol, substitute
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from dalembert.mechanics.equations.sympy_form import SymPyEquations


Family = Literal[
    "positions", "velocities", "accelerations", "kinetic energy", "momenta", "free bodies"
]


EXPLANATION_LEVELS: Final = ("brief", "full", "teach")


def _text(formula: Formula) -> str:
    # printing is opened only by those who need it
    from dalembert.symbolic.algebra.printing.formula_layout import formula_text

    return formula_text(formula)


@dataclass(frozen=True)
class Principle(Displayable):
    """A classical principle: its name, what it says, where it is printed, and the route it
    takes.
    """

    name: str
    title: str
    statement: Formula
    source: str
    family: Family
    # Bar00 table 1: by vectors or by scalar functions, in the rates q̇ or in the speeds u
    approach: Literal["vector", "scalar", "both"]
    variables: Literal["q̇", "u", "q, p"]
    # what it says, in words
    why: str = ""

    def __str__(self) -> str:
        return f"{self.title}: {_text(self.statement)} ({self.source})"


@dataclass(frozen=True)
class Matrix:
    """Entries in rows, and what the rows and the columns belong to."""

    rows: tuple[tuple[int, ...], ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]


@dataclass(frozen=True)
class StepItem:
    """One quantity of a step: what it is called, as a formula or in words, what it is for this
    system, and which body or point has it.
    """

    label: str | Formula
    value: int | Vector | str | Matrix
    of: str = ""


def steps_of(kin: Kinematics, quantities: Iterable[Quantity | Step]) -> tuple[Step, ...]:
    """Every quantity as a step, for one system."""
    return tuple(
        quantity_step(kin, a) if isinstance(a, Quantity) else replace(a, kinematics=kin)
        for a in quantities
    )


def quantity_step(kin: Kinematics, a: Quantity) -> Step:
    """A quantity as a step: its formula, and every entry or place of it."""
    return Step(a.title, a.statement, tuple(_items(kin, a)), a.source, a.why, a.sparse, kin)


def _items(kin: Kinematics, a: Quantity) -> Iterator[StepItem]:
    value = a.value
    if isinstance(value, VelocityPartials):
        labels = list(
            _labels(
                kin,
                a
                if isinstance(a.symbol, Symbol) and not isinstance(a.formula, Partial)
                else a.by_formula,
            )
        )
        for X in displayed_locations(kin, value):
            parts = sorted(value(X).items())
            yield from (StepItem(labels[k], part, _owner(kin, X)) for k, part in parts)
    elif isinstance(value, SpatialField):
        for X in displayed_locations(kin, value):
            at = value(X)
            yield StepItem(a.ref, at.i if isinstance(at, Scalar) else at, _owner(kin, X))
    elif isinstance(value, SparseMatrix):
        down, across = (
            tuple(i.name if isinstance(i, Name) else str(i) for i in index)
            for index in (a.row_labels, a.column_labels)
        )
        yield StepItem(a.ref, Matrix(value.dense(), down, across))
    elif isinstance(value, Column):
        yield from (
            StepItem(label, node) for label, node in zip(_labels(kin, a), value, strict=True)
        )
    else:
        yield StepItem(a.ref, value if isinstance(value, Vector) else value.i)


def _labels(kin: Kinematics, a: Quantity) -> Iterator[str | Formula]:
    """p_θ for an entry of p, ∂T/∂θ for one of ∂T/∂q, the words for what has no symbol."""
    for index, names in zip(a.row_labels, _component_names(kin, a, len(a.row_labels)), strict=True):
        if isinstance(a.formula, Equation):
            yield index.name if isinstance(index, Name) else index
        elif isinstance(index, Symbol) or (isinstance(index, str) and not index.isdigit()):
            yield index
        elif isinstance(a.symbol, Symbol) and a.symbol not in names:
            yield replace(a.symbol, below=(index,))
        elif isinstance(a.symbol, Partial) and isinstance(a.symbol.by, Symbol):
            # ∂T̄/∂π_r of a quasi-coordinate, which has no symbol of its own
            yield replace(a.symbol, by=replace(a.symbol.by, below=(index,)))
        else:
            yield substitute(a.ref, names)


def _component_names(kin: Kinematics, a: Quantity, size: int) -> list[dict[Formula, Formula]]:
    """For every entry: the columns of symbols in the formula, each with the symbol that it
    stands for there.
    """
    variables = [x for x in a.dependencies if x.is_variable]
    return [
        {x.ref: Name(kin.name(x.value.nodes[k])) for x in variables if k < len(x.value)}
        for k in range(size)
    ]


def displayed_locations(kin: Kinematics, value: SpatialField) -> list[Location]:
    """Where it was needed, bodies first."""
    order = {
        X: k
        for k, X in enumerate(X for b in kin.system.bodies for X in (b.G, b.frame) if X is not None)
    }
    needed = (
        value.loaded_locations
        if isinstance(value, VelocityPartials)
        else value.values
        if value.support is None
        else value.support
    )
    return sorted(needed, key=lambda X: order.get(X, len(order)))


def _owner(kin: Kinematics, X: Location) -> str:
    """The bodies that a mass centre or a frame belongs to, else its own name."""
    return ", ".join(b.name for b in kin.system.bodies if X is b.G or X is b.frame) or X.name


@dataclass(frozen=True)
class Step(Displayable):
    """One step of a derivation: the formula in general, the same for this system, its source,
    and why it is taken.
    """

    title: str
    formula: str | Formula
    items: tuple[StepItem, ...]
    source: str = ""
    why: str = ""
    # many of its quantities vanish, and those need not be shown
    sparse: bool = False
    # whose symbols and frames its values are written in
    kinematics: Kinematics | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        if self.kinematics is not None:
            return report_text(self)
        formula = self.formula if isinstance(self.formula, str) else _text(self.formula)
        return f"{self.title}: {formula}"


@dataclass(frozen=True)
class PrincipleForm:
    """The equations as the principle itself gives them: residuals = 0, linear in the unknowns.

    `along` says what they are projected on: the speeds u (unknown u̇) or the coordinates q (unknown
    q̈ and λ).
    """

    along: Literal["u", "q"]
    residuals: tuple[int, ...]
    accelerations: tuple[int, ...]
    multipliers: tuple[int, ...] = ()
    # the equations as the book prints them, where they are not the residuals themselves
    printed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Derivation(Displayable):
    """A principle applied to a system.

    `quantities` is what its steps show, in the order of the book: the quantities themselves.
    `statement` is the principle as it was evaluated; its value are the equations that it gives.
    """

    _foreign_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("M", "mass_matrix", "mass_matrix_full"),
            "it is .equations.mass_matrix(), or .sympy().mass_matrix",
        ),
        **dict.fromkeys(
            ("f", "forcing", "forcing_full"), "it is .equations.forcing(), or .sympy().forcing"
        ),
        "rhs": "da.compile(s) is u̇ = f(q, u), .sympy() has M and the forcing",
        **dict.fromkeys(("text", "latex"), "it is .equations.text() or .equations.latex()"),
        **dict.fromkeys(("simulate", "run"), "da.simulate(s, …) takes the system"),
    }

    principle: Principle
    kinematics: Kinematics = field(repr=False)
    quantities: tuple[Step | Quantity, ...] = field(repr=False)
    native: PrincipleForm = field(repr=False)
    statement: Quantity | None = field(default=None, repr=False, compare=False)

    @property
    def tape(self) -> Tape:
        """The tape this derivation was written on."""
        return self.kinematics.tape

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every quantity of the derivation, for this system."""
        return steps_of(self.kinematics, self.quantities)

    @cached_property
    def equations(self) -> Equations:
        """The common form M u̇ = f, q̇ = W u + X."""
        native = self.native
        if native.along == "u":
            residuals = list(native.residuals)
        else:
            contracted = project_onto_speeds(self.kinematics, native.residuals, native.multipliers)
            residuals = append_nonlinear_rows(self.kinematics, contracted)
        return common_form(self.kinematics, residuals)

    def __getstate__(self) -> dict[str, object]:
        # quantities can be made on, steps are what they are
        return {**self.__dict__, "quantities": self.steps, "statement": None, "steps": self.steps}

    def sympy(self) -> SymPyEquations:
        """q, u, mass matrix, forcing and rates as SymPy matrices in dynamicsymbols."""
        from dalembert.mechanics.equations.sympy_form import sympy_equations

        return sympy_equations(self.kinematics, self.equations)

    def explain(self, level: str = "teach", frame: Frame | str = "") -> Explanation:
        """The derivation to read: "brief" shows every quantity, "full" starts with the description,
        "teach" adds the reasons. `frame` names the frame in which all vectors are written.
        """
        _check_name("level", level, EXPLANATION_LEVELS)
        name = frame.name if isinstance(frame, Frame) else frame
        if name:
            _check_name("frame", name, [F.name for F in self.kinematics.system.space.frames])
        return Explanation(self, level, name)

    def scalar(self, i: int) -> Scalar:
        """A node of this derivation as an expression."""
        return Scalar(self.tape, i)

    def __str__(self) -> str:
        kin = self.kinematics
        along = [
            f"\nwith {kin.scalar(u)} = {kin.scalar(e)}, chosen"
            for u, e in kin.edge_speed_definitions
        ]
        return f"{self.principle.title}\n{self.equations}{''.join(along)}"

    def _repr_latex_(self) -> str:
        return self.equations._repr_latex_()


def _check_name(option: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        msg = (
            f"explain: {option}={name!r}: {suggest_name(name, known) or 'unknown'} ({option}= "
            f"takes {', '.join(known)})"
        )
        raise Unknown(msg)


def coordinate_derivation(
    principle: Principle, of: Quantities, steps: Iterable[Quantity | Step], statement: Quantity
) -> Derivation:
    """A derivation that ends in one equation for each coordinate, with multipliers for the rows."""
    native = PrincipleForm("q", statement.value.nodes, of.kin.qddot, of.lam.value.nodes)
    return _derivation(principle, of, steps, native, statement)


def speed_derivation(
    principle: Principle,
    of: Quantities,
    steps: Iterable[Quantity | Step],
    statement: Quantity,
    *,
    negate: bool = False,
) -> Derivation:
    """A derivation that ends in one equation for each independent speed; `turned` where loads
    less inertia are to vanish.
    """
    value = -statement.value if negate else statement.value
    residuals = append_nonlinear_rows(of.kin, value.nodes)
    return _derivation(
        principle, of, steps, PrincipleForm("u", tuple(residuals), of.kin.udot), statement
    )


def _derivation(
    principle: Principle,
    of: Quantities,
    steps: Iterable[Quantity | Step],
    native: PrincipleForm,
    statement: Quantity,
) -> Derivation:
    # what is written in q̇ and in u holds the quantities in turn; let go, an unused derivation is
    # freed at once
    for written in ("rates", "speeds"):
        vars(of).pop(written, None)
    return Derivation(principle, of.kin, (*steps, *chetaev_step(of.kin)), native, statement)


Derive = Callable[[Kinematics], Derivation]


def constraint_row_step(of: Quantities) -> tuple[Quantity, ...]:
    """The constraint rows, whose A carries the multipliers; nothing where there are none."""
    if not of.kin.rows:
        return ()
    why = "Each row adds a constraint force along its coefficients, A, with a multiplier λ as size."
    return (of.rows.as_step("Constraint rows", "Gre03 (4.4)", why),)


def chetaev_step(kin: Kinematics) -> tuple[Step, ...]:
    """What is assumed of rows that are not linear in the velocities; nothing where there are
    none.
    """
    if not kin.nonlinear:
        return ()
    rows = [StepItem(row.name, row.nonlinear) for row in kin.nonlinear if row.nonlinear is not None]
    slopes = [
        StepItem(f"∂φ_{j}/∂{kin.name(kin.qdot[k])}", a)
        for j, row in enumerate(kin.nonlinear, 1)
        for k, a in row.A.items()
    ]
    why = (
        "An assumption: no other rule defines the displacements that such a row allows. They are "
        "those with "
        "∂φ/∂q̇·δq = 0 (Chetaev), so that the"
        " reaction is Aᵀλ. Where φ is linear in the velocities this is the usual rule."
    )
    after = (
        "The row holds at every instant, so its rate vanishes too; that is linear in the "
        "accelerations."
    )
    return (
        Step("Rows nonlinear in the velocities", "φ(q, q̇, t) = 0", tuple(rows), "NF72", why),
        Step(
            "Their slopes",
            "A = ∂φ/∂q̇, with A q̈ + (∂φ/∂q)·q̇ + ∂φ/∂t = 0 in augmented form",
            tuple(slopes),
            "NF72",
            after,
        ),
    )


_DERIVATION_CACHE: Final = PerOwnerCache[tuple[Derivation, float]]()


def cached_derivation(derive: Derive, kin: Kinematics) -> Derivation:
    """derive(kin), the same for all who ask; to be read, not written on: native code, whose bits
    depend on the tape, derives its own.
    """
    return timed_derivation(derive, kin)[0]


def timed_derivation(derive: Derive, kin: Kinematics) -> tuple[Derivation, float]:
    """The same with the CPU seconds it took when it was made."""
    return _DERIVATION_CACHE(kin, derive, lambda: _derive_timed(derive, kin))


def _derive_timed(derive: Derive, kin: Kinematics) -> tuple[Derivation, float]:
    start = time.process_time()
    return derive(kin), time.process_time() - start
