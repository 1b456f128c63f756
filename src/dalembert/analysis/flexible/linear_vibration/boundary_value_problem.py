"""y′ = A(λ) y, B₀ y(0) = 0, B_L y(L) = 0: the small motion of a member in numbers, with λ = ω²
or λ = P to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dalembert.analysis.flexible.linear_vibration.linearization import (
    LinearForm,
    LinearMemberEquations,
)
from dalembert.errors import BadDescription, IllPosed, NotApplicable
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, evaluate

if TYPE_CHECKING:
    import numpy as np

# what λ is: ω², the compressive force, or nothing
Unknown = Literal["frequency", "compression", "rest"]


class BoundaryValueProblem:
    """The forms of a small motion in numbers: each coefficient is c₀ + λ c₁."""

    def __init__(self, motion: LinearMemberEquations, unknown: Unknown = "frequency") -> None:
        self.motion, self.unknown, self.tape = motion, unknown, motion.tape
        self.order = motion.order
        self.places = [(f, i) for f in motion.fields for i in range(self.order[f])]
        self.index = {place: k for k, place in enumerate(self.places)}
        rows = [e.form for e in motion.ends]
        if len(rows) != len(self.places):
            msg = (
                f"{motion.member.kind} {motion.member.name!r}: {len(rows)} conditions at its "
                f"ends where {len(self.places)} are needed"
            )
            raise IllPosed(msg)
        if unknown == "frequency" and motion.has_damping:
            msg = (
                f"{motion.member.kind} {motion.member.name!r}: a damper or a rotating frame "
                "couples "
                f"its motion with its velocity, so it has"
                " no undamped modes; expand it in functions and use da.linearize"
            )
            raise NotApplicable(msg)
        self._split: dict[int, tuple[int, int]] = {}
        self._floats: dict[tuple[str, float], tuple[np.ndarray, np.ndarray]] = {}

    # ---- numbers -----------------------------------------------------------------------------

    def affine_coefficients(self, node: int, dots: int) -> tuple[int, int]:
        """(c₀, c₁): λ = ω² comes from two dots, λ = P from the compressive force."""
        t = self.tape
        if self.unknown == "frequency":
            return (node, t.zero) if dots == 0 else (t.zero, t.neg(node))
        if dots:
            return t.zero, t.zero
        if self.unknown == "rest":
            return node, t.zero
        if node not in self._split:
            assert self.motion.compression is not None
            c, k = LinearCoefficients(t, [self.motion.compression])(node)
            self._split[node] = c, k.get(0, t.zero)
        return self._split[node]

    def numbers(self, nodes: Sequence[int], x: Any, arithmetic: Any) -> list[Any]:
        """Nodes as numbers of an arithmetic, at a place x."""
        m = self.motion

        def symbol(i: int) -> Any:
            if i == m.member.x.i:
                return x
            if i not in m.numbers:
                msg = (
                    f"{m.member.kind} {m.member.name!r}: the constant {self.tape.nodes[i][1]} "
                    f"has no value; give it one with values={{...}}"
                )
                raise BadDescription(msg)
            return arithmetic.const(m.numbers[i])

        return evaluate(self.tape, list(nodes), symbol, arithmetic)

    def terms(self, form: LinearForm, x: Any, arithmetic: Any) -> list[tuple[str, int, Any, Any]]:
        """(field, order, c₀, c₁) of every term of a form, at a place x."""
        pairs = (self.affine_coefficients(c, dots) for (_, _, dots), c in form.coefficients.items())
        flat = self.numbers([node for pair in pairs for node in pair], x, arithmetic)
        return [
            (name, i, a, b)
            for (name, i, _), a, b in zip(form.coefficients, flat[::2], flat[1::2], strict=True)
        ]

    def row(self, form: LinearForm, x: Any, arithmetic: Any) -> tuple[list[Any], list[Any]]:
        """c₀ and c₁ of one form over the state (v, v′, …) and, in the last places, the highest
        derivatives.
        """
        zero = arithmetic.const(0)
        width = len(self.places) + len(self.motion.fields)
        rows = [zero] * width, [zero] * width
        for name, i, a, b in self.terms(form, x, arithmetic):
            k = self.index.get((name, i), len(self.places) + self.motion.fields.index(name))
            rows[0][k], rows[1][k] = rows[0][k] + a, rows[1][k] + b
        return rows

    def length_as(self, arithmetic: Any) -> Any:
        """L as a number of an arithmetic."""
        return self.numbers([self.motion.member.length.i], arithmetic.const(0), arithmetic)[0]

    @cached_property
    def length(self) -> float:
        """L as a number."""
        return float(self.length_as(FloatArithmetic()))

    @cached_property
    def highest_derivative_rows(self) -> list[int]:
        """The rows of A that hold the highest derivatives; in the others v′, v″, … are the next
        of the state itself.
        """
        return [self.index[f, self.order[f] - 1] for f in self.motion.fields]

    # ---- floats ------------------------------------------------------------------------------

    def state_matrix(self, lam: float, x: float = 0.0) -> np.ndarray:
        """A(λ) of y′ = A y at a place, in floats."""
        import numpy as np

        c, n = (
            self._evaluate_forms("interior", list(self.motion.equations.values()), lam, x),
            len(self.places),
        )
        A = np.eye(n, k=1)
        A[self.highest_derivative_rows] = -np.linalg.solve(c[:, n:], c[:, :n])
        return A

    def _evaluate_forms(
        self, what: str, forms: Sequence[LinearForm], lam: float, x: float
    ) -> np.ndarray:
        """c₀ + λ c₁ of several forms, row by row; c₀ and c₁ are found once for each place."""
        import numpy as np

        if (what, x) not in self._floats:
            c0, c1 = zip(*(self.row(form, x, FloatArithmetic()) for form in forms), strict=True)
            self._floats[what, x] = np.array(c0), np.array(c1)
        c0, c1 = self._floats[what, x]
        return np.asarray(c0 + lam * c1)

    @cached_property
    def end_displacements(self) -> list[tuple[str, int]]:
        """The displacements v, v′, … whose conjugate forces act at a section."""
        return sorted(self.motion.sections, key=lambda k: (self.motion.fields.index(k[0]), k[1]))

    def section_maps(self, lam: float, x: float) -> tuple[np.ndarray, np.ndarray]:
        """D and F: displacements d = D y and forces f = F y at a section."""
        import numpy as np

        forces = self._evaluate_forms(
            "section", [self.motion.sections[k] for k in self.end_displacements], lam, x
        )
        n = len(self.places)
        return np.eye(n)[[self.index[place] for place in self.end_displacements]], forces[:, :n]

    def end_stiffness(self, side: int, lam: float) -> tuple[np.ndarray, list[int]]:
        """What sits on an end, as a stiffness over its displacements, and which of these are
        held.
        """
        import numpy as np

        n, m = len(self.places), len(self.end_displacements)
        x = self.length if side else 0.0
        K, held = np.zeros((m, m)), []
        for e in (e for e in self.motion.ends if e.side == side):
            place = self.end_displacements.index((e.field, e.order))
            if e.kind == "geometric":
                held.append(place)
            if e.kind != "natural":
                continue
            c0, c1 = self.row(e.form, x, FloatArithmetic())
            _, F = self.section_maps(lam, x)
            own = (np.array(c0) + lam * np.array(c1))[:n] - F[place]
            for column, displacement in enumerate(self.end_displacements):
                K[place, column] = -own[self.index[displacement]] * (1 if side else -1)
        return K, held
