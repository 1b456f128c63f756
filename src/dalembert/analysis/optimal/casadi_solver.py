"""The same program for the Ipopt that comes with CasADi: values and derivatives are called back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import numpy as np

from dalembert.analysis.optimal.point_function import Indices
from dalembert.errors import import_optional
from dalembert.foundation.array_types import FloatArray

_CODES: Final = {
    "Solve_Succeeded": 0,
    "Solved_To_Acceptable_Level": 1,
    "Infeasible_Problem_Detected": 2,
    "Search_Direction_Becomes_Too_Small": 3,
    "Diverging_Iterates": 4,
    "User_Requested_Stop": 5,
    "Feasible_Point_Found": 6,
    "Maximum_Iterations_Exceeded": -1,
    "Restoration_Failed": -2,
    "Error_In_Step_Computation": -3,
    "Not_Enough_Degrees_Of_Freedom": -10,
    "Invalid_Number_Detected": -13,
}


class Callbacks(Protocol):
    """What a solver calls."""

    def objective(self, x: FloatArray) -> float: ...
    def gradient(self, x: FloatArray) -> FloatArray: ...
    def constraints(self, x: FloatArray) -> FloatArray: ...
    def jacobianstructure(self) -> tuple[Indices, Indices]: ...
    def jacobian(self, x: FloatArray) -> FloatArray: ...
    def hessianstructure(self) -> tuple[Indices, Indices]: ...
    def hessian(self, x: FloatArray, multipliers: FloatArray, sigma: float) -> FloatArray: ...
    def intermediate(self, *state: Any) -> bool: ...


def solve_by_casadi(
    program: Callbacks,
    size: tuple[int, int],
    x: FloatArray,
    limits: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    options: Mapping[str, Any],
    seeds: tuple[FloatArray, FloatArray, FloatArray] | None,
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray], int]:
    """x, the multipliers of rows, lower and upper bounds, and Ipopt's code."""
    ca = import_optional("casadi", "solver='ipopt'", "casadi")
    nlp, functions = _functions(ca, program, size)
    given = {f"ipopt.{name}": value for name, value in options.items()}
    solver = ca.nlpsol(
        "solver", "ipopt", nlp, {"print_time": 0, "ipopt.print_level": 0, **given, **functions}
    )
    known = {} if seeds is None else {"lam_g0": seeds[0], "lam_x0": seeds[2] - seeds[1]}
    answer = solver(x0=x, lbx=limits[0], ubx=limits[1], lbg=limits[2], ubg=limits[3], **known)
    stats = solver.stats()
    history = stats.get("iterations", {})
    final = [
        float(history[name][-1]) if history.get(name) else np.inf
        for name in ("obj", "inf_pr", "inf_du")
    ]
    program.objective(_array(answer["x"]))
    program.intermediate(0, int(stats["iter_count"]), *final)
    bounds = _array(answer["lam_x"])
    multipliers = _array(answer["lam_g"]), np.maximum(-bounds, 0.0), np.maximum(bounds, 0.0)
    return _array(answer["x"]), multipliers, _CODES.get(str(stats["return_status"]), -100)


def _array(v: Any) -> FloatArray:
    return np.array(v, dtype=np.float64).ravel()


def _functions(ca: Any, program: Callbacks, size: tuple[int, int]) -> tuple[Any, dict[str, Any]]:
    """The program and its derivatives as functions of CasADi."""
    n, m = size
    J = _Pattern(ca, *program.jacobianstructure(), (m, n))
    low, high = program.hessianstructure()
    # CasADi takes the upper triangle
    H = _Pattern(ca, high, low, (n, n))
    column, many = ca.Sparsity.dense(n, 1), ca.Sparsity.dense(m, 1)
    one, none = ca.Sparsity.dense(1, 1), ca.Sparsity(0, 0)
    f, g = program.objective, program.constraints
    called: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
        "grad_f": ((column, none), (one, column), lambda x, _: (f(x), program.gradient(x))),
        "jac_g": (
            (column, none),
            (many, J.sparsity),
            lambda x, _: (g(x), J.matrix(program.jacobian(x))),
        ),
        "hess_lag": (
            (column, none, one, many),
            (H.sparsity,),
            lambda x, _, scale, mu: (H.matrix(program.hessian(x, mu, float(scale[0]))),),
        ),
        # x, f, g, multipliers of bounds, rows and parameters after every iteration
        "iteration_callback": (
            (column, one, many, column, many, none),
            (one,),
            lambda *_: (0.0,),
        ),
    }
    names = ("x", "p"), ("f", "g")
    nlp = _function(ca, "nlp", (column, none), (one, many), lambda x, _: (f(x), g(x)), names)
    return nlp, {name: _function(ca, name, *each) for name, each in called.items()}


class _Pattern:
    """Entries in the order of the program as a sparse matrix of CasADi."""

    def __init__(self, ca: Any, rows: Indices, columns: Indices, shape: tuple[int, int]) -> None:
        self._ca = ca
        self.sparsity = ca.Sparsity.triplet(*shape, rows.tolist(), columns.tolist())
        # CasADi stores by columns
        self._order = np.lexsort((rows, columns))

    def matrix(self, entries: FloatArray) -> Any:
        return self._ca.DM(self.sparsity, entries[self._order])


def _function(
    ca: Any, name: str, inputs: Any, outputs: Any, evaluate: Any, names: Any = None
) -> Any:
    """A function of CasADi that calls Python."""

    class Called(ca.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct(name, {"enable_fd": True})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_name_in(self, i: int) -> str:
            return names[0][i] if names else f"i{i}"

        def get_name_out(self, i: int) -> str:
            return names[1][i] if names else f"o{i}"

        def get_sparsity_in(self, i: int) -> Any:
            return inputs[i]

        def get_sparsity_out(self, i: int) -> Any:
            return outputs[i]

        def eval(self, given: Any) -> list[Any]:
            return list(evaluate(*map(_array, given)))

    return Called()
