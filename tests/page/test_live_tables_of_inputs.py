"""A recorded table travels with a page: the page runs the motion that native code runs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from live_runs import NODE, Live

import dalembert as da

TIMES = np.linspace(0.0, 6.0, 301)
SIGNAL = np.cumsum(np.random.default_rng(5).normal(size=301)) / 3


def _cart() -> da.System:
    s = da.System("cart", gravity=9.81)
    m, l = s.constants(m=0.3, l=0.4)
    at = s.slide("x", s.O, s.N.x)
    s.particle("cart", 1, at)
    s.rod("pole", s.pin("theta", at), m, l)
    s.force(s.input("F") * s.N.x, at=at)
    return s


def _live(kind: str, **more: Any) -> Live:
    entry = SimpleNamespace(
        build=_cart,
        start={"theta": 0.3},
        duration=5.0,
        inputs={"F": da.table(TIMES, SIGNAL, kind)},
        events=(),
    )
    return Live(SimpleNamespace(**{**vars(entry), **more}))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("kind", ["held", "linear", "cubic"])
def test_the_page_runs_a_table(kind: str) -> None:
    live = _live(kind)
    at = np.linspace(0.0, 5.0, 101)
    (actual,) = live.by_node(live.setting(at=at.tolist()))
    assert "fault" not in actual
    run = live.run.at(at)
    expected = np.hstack([run.q, run.u])
    assert np.abs(np.array(actual["states"]) - expected).max() <= 1e-9


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_run_beyond_the_table_is_refused_in_the_page() -> None:
    live = _live("linear")
    (actual,) = live.by_node({**live.setting(), "duration": 7.0})
    assert "its table goes from t = 0 to 6" in str(actual)
