"""RunValues and derivatives of a whole program against differences, and its size."""

import numpy as np
import pytest

from dalembert.analysis.optimal.optimize import _problem
from dalembert.analysis.optimal.phase import phase
from dalembert.analysis.optimal.program import NonlinearProgram
from dalembert.analysis.optimal.scheme import radau
from dalembert.analysis.optimal.transcription import Transcription
from dalembert.foundation.array_types import FloatArray
from optimal.optimal_systems import block, cart_pole


def _programs() -> dict[str, NonlinearProgram]:
    """Programs with a free duration, parameters, held inputs, integrals, paths, and constraint
    equations.
    """
    polar = phase(
        cart_pole(),
        (1.0, 3.0),
        minimize="F**2 + x**2",
        minimize_at_end="x*theta",
        start={"x": 0, "x**2 + theta": 1},
        end={"theta": 1},
        path={"x*F": (-1, 1)},
        integrals={"F*x": (0, 1)},
    )
    cartesian = phase(
        cart_pole(cartesian=True),
        2.0,
        minimize="F**2",
        start={"x": 0, "X": 0.1},
        end={"Y": 0.5},
        periodic=["x.dot"],
    )
    held = phase(
        block(), 1.0, minimize="F**2*m", held={"F": 2}, start={"x": 0}, bounds={"x.dot**2": (0, 4)}
    )
    made = {}
    for name, given, parameters in (
        ("polar", polar, None),
        ("cartesian", cartesian, None),
        ("held", held, {"m": (0.5, 2)}),
    ):
        problem, _ = _problem((given,), (), parameters, None)
        transcription = Transcription(problem, [np.array([0.0, 0.5, 0.7, 1.0])], radau(3))
        made[name] = transcription.program(np.ones(transcription.n_variables))
    return made


PROGRAMS = _programs()


def _point(program: NonlinearProgram) -> FloatArray:
    return 0.7 + 0.4 * np.random.default_rng(1).standard_normal(program.n)


def _dense(program: NonlinearProgram, v: FloatArray) -> FloatArray:
    J = np.zeros((program.m, program.n))
    J[program.jacobian_rows, program.jacobian_columns] = program.slopes(v)[1]
    return J


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_derivatives_equal_central_differences(name: str) -> None:
    program, h = PROGRAMS[name], 1e-6
    v = _point(program)
    J, gradient = _dense(program, v), program.slopes(v)[0]
    for k in range(program.n):
        step = h * np.eye(program.n)[k]
        assert (program.rows(v + step) - program.rows(v - step)) / (2 * h) == pytest.approx(
            J[:, k], abs=1e-6
        )
        assert (program.cost(v + step) - program.cost(v - step)) / (2 * h) == pytest.approx(
            gradient[k], abs=1e-6
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_hessian_equals_differences_of_the_lagrangian_gradient(name: str) -> None:
    program, h = PROGRAMS[name], 1e-5
    v, draw = _point(program), np.random.default_rng(5)
    lam, sigma = draw.standard_normal(program.m), 1.7
    H = np.zeros((program.n, program.n))
    np.add.at(H, (program.hessian_rows, program.hessian_columns), program.curvatures(v, lam, sigma))
    assert (program.hessian_rows >= program.hessian_columns).all()
    H = H + np.tril(H, -1).T

    def slope(w: FloatArray) -> FloatArray:
        return sigma * program.slopes(w)[0] + lam @ _dense(program, w)

    for k in range(program.n):
        step = h * np.eye(program.n)[k]
        assert (slope(v + step) - slope(v - step)) / (2 * h) == pytest.approx(H[:, k], abs=1e-5)


def test_scaling_changes_nothing_but_units() -> None:
    problem, _ = _problem(
        (phase(cart_pole(), 2.0, minimize="F**2", start={"x": 0}),), (), None, None
    )
    transcription = Transcription(problem, [np.linspace(0, 1, 4)], radau(2))
    plain = transcription.program(np.ones(transcription.n_variables))
    scaled = transcription.program(np.linspace(0.5, 3.0, transcription.n_variables))
    v = _point(plain)
    x = v / scaled.sizes.scale
    assert plain.objective(v) == pytest.approx(scaled.objective(x), rel=1e-14)
    assert scaled.sizes.row_scale * plain.constraints(v) == pytest.approx(
        scaled.constraints(x), rel=1e-12, abs=1e-13
    )
    assert plain.gradient(v) * scaled.sizes.scale == pytest.approx(scaled.gradient(x), rel=1e-13)
