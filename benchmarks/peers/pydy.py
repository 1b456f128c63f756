"""PyDy: right-hand sides from SymPy's equations as C code through Cython."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from typing import Any

import numpy
import sympy
from numpy.typing import NDArray
from pydy.codegen.ode_function_generators import generate_ode_function

from peers import c_compiler
from peers.sympy_mechanics import pendulum_equations


def rates(n: int, solver: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """ẏ(y) of the pendulum of n links; the result is the one buffer that PyDy uses for all
    calls.
    """
    c_compiler()
    d, method = pendulum_equations(n)
    constants = list(d.constants)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        f = generate_ode_function(
            method.forcing,
            list(d.q),
            list(d.u),
            constants,
            mass_matrix=method.mass_matrix,
            coordinate_derivatives=sympy.Matrix(d.u),
            linear_sys_solver=solver,
            constants_arg_type="array",
            generator="cython",
        )
    p = numpy.array([d.constants[c] for c in constants])
    return lambda y: f(y, 0.0, p)
