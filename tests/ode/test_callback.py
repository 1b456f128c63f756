"""Python functions as right-hand sides, exceptions and Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from callback import integrate_function

# says once that the run is really on its way
RUNNING = """
import sys, time
sys.path[:0] = {path!r}
said = []
def tell(t, steps):
    if steps > 10 and not said:
        said.append(t)
        print("running", flush=True)
"""
NATIVE = """
from conftest import *
from dalembert.runtime.ode.integration import integrate
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
library = load(INTRINSICS + right_hand_side("kepler", 4, kepler), ("kepler",))
start = [0.5, 0.0, 0.0, 1.7]
problem = InitialValueProblem(rhs=library.address("kepler"), y0=start, t0=0.0, t1=1e9)
solution = integrate(problem, tell)
"""
PYTHON = """
from callback import integrate_function
solution = integrate_function(lambda t, y: [y[1], -y[0]], [1.0, 0.0], 0.0, 1e9, on_progress=tell)
"""
REPORT = """
print(solution.is_interrupted, solution.steps, solution.t[-1] > 0, solution.message, flush=True)
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Ctrl-C reaches a child process in another way there"
)
@pytest.mark.parametrize("program", [NATIVE, PYTHON])
def test_ctrl_c_returns_the_motion_so_far(program: str) -> None:
    path = [str(Path(__file__).parent), *sys.path]
    text = RUNNING.format(path=path) + program + REPORT
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        try:
            # the whole run would take years
            output, _ = child.communicate(timeout=600)
        finally:
            child.kill()
    interrupted, steps, moved, message = output.split(maxsplit=3)
    assert child.returncode == 0
    assert (interrupted, moved) == ("True", "True")
    assert int(steps) > 10
    assert message.startswith("interrupted at t = ")


def test_an_exception_comes_out_as_it_was_raised() -> None:
    def rates(t: float, y: np.ndarray) -> np.ndarray:
        if t > 0.5:
            msg = "no further"
            raise LookupError(msg)
        return -y

    with pytest.raises(LookupError, match="no further"):
        integrate_function(rates, [1.0], 0.0, 1.0)


def test_a_wrong_number_of_rates_is_an_error() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        integrate_function(lambda _t, _y: [1.0, 2.0, 3.0], [1.0, 2.0], 0.0, 1.0)


def test_the_function_may_keep_and_change_what_it_is_given() -> None:
    kept: list[np.ndarray] = []

    def rates(_t: float, y: np.ndarray) -> list[float]:
        kept.append(y)
        result = [y[1], -y[0]]
        y[:] = 99.0
        return result

    solution = integrate_function(rates, [1.0, 0.0], 0.0, 3.0)
    assert np.cos(3.0) == pytest.approx(solution.y[-1, 0], abs=1e-8)
    assert len({id(y) for y in kept}) == len(kept)
