"""M u̇ = f, q̇ = W u + X and their slopes for SymPy, with the names and matrices that users of
KanesMethod expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.mechanics.kinematics.constraint_rows import position_residuals
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.scalar import Scalar

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class SymPyEquations(Displayable):
    """q and u as dynamicsymbols, constants as symbols: mass_matrix * u' = forcing, q' = rates."""

    q: sympy.Matrix
    u: sympy.Matrix
    mass_matrix: sympy.Matrix
    forcing: sympy.Matrix
    # q' in q and u
    rates: sympy.Matrix
    # inputs of the description, and φ of the position constraints
    inputs: sympy.Matrix
    rows: sympy.Matrix

    def __str__(self) -> str:
        return (
            f"SymPy: mass_matrix * u' = forcing, q' = rates for q = {list(self.q)}, u = "
            f"{list(self.u)}"
        )

    @property
    def mass_matrix_full(self) -> Any:
        """diag(1, M), for the rates of (q, u)."""
        import sympy

        return sympy.diag(sympy.eye(len(self.q)), self.mass_matrix)

    @property
    def forcing_full(self) -> Any:
        """(q', f)"""
        return self.rates.col_join(self.forcing)

    @cached_property
    def A(self) -> Any:
        """∂ẋ/∂x at any point, x = (q, u)"""
        return self._state_jacobians[0]

    @cached_property
    def B(self) -> Any:
        """∂ẋ/∂w at any point"""
        return self._state_jacobians[1]

    @cached_property
    def _state_jacobians(self) -> tuple[Any, Any]:
        return self.linearize()

    def linearize(
        self, about: Mapping[Any, Any] | None = None, coordinates: Sequence[Any] | None = None
    ) -> tuple[Any, Any]:
        """A = ∂ẋ/∂x, B = ∂ẋ/∂w for x = (z, u): ∂u̇ = M⁻¹ (∂f − ∂M u̇₀), u̇₀ = M⁻¹ f, ∂q = S ∂z.

        about         what stands at the point for coordinates, speeds, inputs or constants; the
                      others stay symbols
        coordinates   the independent coordinates z, needed with position constraints
        """
        import sympy

        # values are inserted before anything is solved
        at = {self._symbol(key): sympy.sympify(value) for key, value in (about or {}).items()}
        x, v = [*self.q, *self.u, *self.inputs], sympy.Matrix([sympy.Dummy() for _ in self.u])
        M, f = self.mass_matrix.xreplace(at), self.forcing.xreplace(at)
        free, S = self._tangent_basis(coordinates, at)
        # (q, u, w) from (z, u, w)
        L = sympy.diag(S, sympy.eye(len(self.u) + len(self.inputs)))
        accelerations = dict(zip(v, _lu_solve(M, f), strict=True))
        slopes = (
            (self.forcing - self.mass_matrix * v).jacobian(x).xreplace(at).xreplace(accelerations)
        )
        zdot = self.rates.extract(free, [0]).jacobian(x).xreplace(at)
        whole = (zdot * L).col_join(_lu_solve(M, slopes * L))
        if whole.has(sympy.zoo, sympy.nan, sympy.oo):
            msg = (
                "linearize: the equations have no finite slope at this point (division by "
                "zero): "
                "choose another"
            )
            raise DalembertError(msg)
        n = len(free) + len(self.u)
        return whole[:, :n], whole[:, n:]

    def _tangent_basis(
        self, coordinates: Sequence[Any] | None, at: Mapping[Any, Any]
    ) -> tuple[list[int], Any]:
        """∂q = S ∂z on the rows, ∂φ/∂q S = 0, and the places of z."""
        import sympy

        q, wanted = list(self.q), len(self.q) - len(self.rows)
        names = list(q) if coordinates is None else [self._symbol(key) for key in coordinates]
        if len(set(names)) != wanted or not set(names) <= set(q):
            msg = (
                f"linearize: there are position constraints, so name {wanted} of {_name_list(q)} "
                "as "
                f"independent: coordinates=[…]"
            )
            raise DalembertError(msg)
        free = [q.index(z) for z in names]
        dependent = [k for k in range(len(q)) if k not in free]
        S = sympy.zeros(len(q), len(free))
        for j, k in enumerate(free):
            S[k, j] = 1
        if dependent:
            phi_q = self.rows.jacobian(q).xreplace(dict(at))
            dependent_part = _lu_solve(
                phi_q.extract(list(range(len(dependent))), dependent),
                -phi_q.extract(list(range(len(dependent))), free),
            )
            for i, k in enumerate(dependent):
                S[k, :] = dependent_part[i, :]
        return free, S

    def _symbol(self, key: Any) -> Any:
        """A symbol of these equations by itself or by its name: theta, "theta", "theta.dot"."""
        name = _ascii_name(str(key).removesuffix("(t)").replace(".dot", "'"))
        if name not in self._symbols_by_name:
            msg = (
                f"linearize: {key} does not occur in the equations; known are "
                f"{_name_list(self._symbols_by_name)}"
            )
            raise Unknown(msg)
        return self._symbols_by_name[name]

    @cached_property
    def _symbols_by_name(self) -> dict[str, Any]:
        """Coordinates, speeds, inputs and what else the equations are made of, by name."""
        from sympy.core.function import AppliedUndef
        from sympy.physics.mechanics import dynamicsymbols

        parts = (self.mass_matrix, self.forcing, self.rates, self.rows)
        others = {x for e in parts for x in e.atoms(AppliedUndef) | e.free_symbols} - {
            dynamicsymbols._t  # noqa: SLF001
        }
        return {
            str(x).removesuffix("(t)"): x
            for x in (*self.q, *self.u, *self.inputs, *sorted(others, key=str))
        }


def sympy_equations(kin: Kinematics, equations: Equations) -> SymPyEquations:
    """The equations as SymPy matrices; theta' as a speed is theta_dot(t)."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    t = equations.tape
    moving = {s.name for s in kin.system.symbols.values() if s.kind != "constant"}

    def dynamic_symbol(i: int) -> Any:
        return dynamicsymbols(_ascii_name(kin.name(i)))

    replace = {sympy.Symbol(kin.name(i)): dynamic_symbol(i) for i in (*kin.q, *kin.u)}
    replace[sympy.Symbol("t")] = dynamicsymbols._t  # noqa: SLF001 - SymPy's own name for the time

    def expression(i: int) -> Any:
        e = Scalar(t, i).sympy()
        others = {
            s: dynamicsymbols(_ascii_name(s.name))
            for s in e.free_symbols
            if s not in replace and s.name.rstrip("'") in moving
        }
        return e.xreplace({**replace, **others})

    n = len(equations.u)
    M = sympy.Matrix(n, n, lambda r, s: expression(equations.mass_nodes[r].get(s, t.zero)))
    phi = position_residuals(kin.tape, kin.rows)
    inputs = [x.scalar.i for x in kin.system.symbols.values() if x.kind in ("input", "state")]

    def column(entries: Iterable[Any]) -> Any:
        listed = list(entries)
        return sympy.Matrix(len(listed), 1, listed)

    return SymPyEquations(
        q=column(dynamic_symbol(i) for i in kin.q),
        u=column(dynamic_symbol(i) for i in kin.u),
        mass_matrix=M,
        forcing=column(expression(i) for i in equations.forcing_nodes),
        rates=column(expression(i) for i in equations.qdot),
        inputs=column(dynamic_symbol(i) for i in inputs),
        rows=column(expression(i) for i in phi),
    )


def _lu_solve(M: Any, b: Any) -> Any:
    """M⁻¹ b"""
    from sympy.matrices.exceptions import NonInvertibleMatrixError

    if not (M.rows and b.cols):
        return b
    try:
        return M.LUsolve(b)
    except (NonInvertibleMatrixError, ZeroDivisionError) as e:
        msg = (
            "linearize: the mass matrix or the rows are singular at this point: choose another "
            "point, or other coordinates="
        )
        raise DalembertError(msg) from e


def _name_list(symbols: Iterable[Any]) -> str:
    return ", ".join(str(x).removesuffix("(t)") for x in symbols)


def _ascii_name(name: str) -> str:
    """theta'' → theta_ddot"""
    return name.replace("''", "_ddot").replace("'", "_dot")
