"""The run of a page, in a JavaScript engine, against the run of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from live_runs import NODE, Live

from dalembert.numerics import wasm

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("whipple-bicycle", "andrews-squeezer")]
pytestmark = pytest.mark.skipif(NODE is None, reason="no node here")


@pytest.mark.parametrize(
    "name",
    ["double-pendulum", "rolling-disk", "four-bar", *SLOW],
)
def test_the_page_moves_as_we_do(name):
    live = Live(name)
    times = np.linspace(0.0, live.entry.duration, 40)
    (found,) = live.by_node(live.setting(at=times.tolist()))
    run = live.run.at(times)
    assert "" == found["stopped"]
    assert len(live.run) == found["count"]
    ours, theirs = np.hstack([run.q, run.u]), np.array(found["states"])
    assert np.abs(ours - theirs).max() <= 1e-9 * max(1.0, np.abs(ours).max())
    assert np.array(found["E_Z"]) == pytest.approx(run.integrals.E_Z, rel=1e-9)
    assert np.abs(np.array(found["residuals"])).max(initial=0.0) <= 2 * run.worst_residual + 1e-9
    # the places that are drawn, at the start
    assert np.array(found["places"]) == pytest.approx(np.array([p.r[0] for p in live.drawn.places]), abs=1e-12)
    assert wasm.imported(live.module.code) <= {"sin", "cos", "__linear_memory", "__stack_pointer", "__indirect_function_table"}


def test_other_constants_and_starts():
    live = Live("four-bar")
    values, starts, times = {"rho": 2.5, "l_2": 0.72}, {"theta_1": 0.7}, np.linspace(0.0, 1.0, 20)
    (found,) = live.by_node(live.setting(values=values, starts=starts, at=times.tolist()))
    data = live.module.data["start"]
    guess = {name: x for name, (_, x) in data["guess"].items()}
    given = {f["name"]: starts.get(f["name"], f["value"]) for f in live.module.data["starts"] if f["given"]}
    run = live.native(given, values=values, guess=guess).at(times)
    assert np.array(found["states"]) == pytest.approx(np.hstack([run.q, run.u]), rel=1e-7, abs=1e-9)


def test_nonsense_gets_a_sentence():
    live = Live("four-bar")
    no_mass, open_loop = live.by_node(live.setting(values={"rho": 0.0}), live.setting(values={"l_1": 100.0}))
    assert "l_1 = 0.2, rho = 0: the mass of “crank” is 0; a mass must be positive" == no_mass["fault"]
    assert "no position satisfies “closure along" in open_loop["fault"]
