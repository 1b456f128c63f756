"""Runs of one system after another share what does not depend on the start, and no bit shows it."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import double_pendulum, rolling_disk
from dalembert.runtime.simulation import simulate

STARTS = [
    {"alpha": 1.0, "beta": -0.5},
    {"alpha": 2.5},
    {"beta": 0.25, "alpha.dot": 3.0},
    {},
    {"alpha": "30 deg", "beta.dot": -1.0},
]
CHANGES: list[dict[str, Any]] = [
    {"rtol": 1e-6},
    {"atol": [1e-9, 1e-9, 1e-10, 1e-10]},
    {"at": [0.5, 1.0]},
    {"t0": 0.5},
    {"audit": False},
    {"keep_energy": True},
    {"energy_tolerance": 1e-6},
    {"max_step": 0.01},
    {"integrator": "taylor"},
    {"integrator": "auto"},
    {"values": {"m_1": 2.0}},
    {"events": ["alpha"]},
    {"sensitivities": ["alpha"]},
]


def damped() -> da.System:
    s = double_pendulum.build()
    s.generalized_force(s.symbols["alpha"].scalar, "-0.1*alpha.dot")
    return s


def bits(run: Any) -> tuple[Any, ...]:
    return run.solution.t.tolist(), run.solution.y.tolist(), run.solution.calls


@pytest.mark.parametrize("build", [double_pendulum.build, damped])
@pytest.mark.parametrize("integrator", ["native", "taylor", "rosenbrock", "auto"])
def test_later_runs_have_the_bits_of_first_runs(
    build: Callable[[], da.System], integrator: str
) -> None:
    s = build()
    later = [da.simulate(s, 2.0, start=start, integrator=integrator) for start in STARTS]
    for start, run in zip(STARTS, later, strict=True):
        first = da.simulate(build(), 2.0, start=start, integrator=integrator)
        assert bits(first) == bits(run)
        assert str(first.start) == str(run.start)


def test_constraints_too() -> None:
    starts = [{"psi.dot": 3.0, "theta": 0.1 * k} for k in range(1, 4)]
    s = rolling_disk.build()
    for start, run in [(start, da.simulate(s, 1.0, start=start)) for start in starts]:
        assert bits(da.simulate(rolling_disk.build(), 1.0, start=start)) == bits(run)


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: next(iter(c)))
def test_other_options_are_not_those_of_the_latest_run(change: Mapping[str, Any]) -> None:
    s = double_pendulum.build()
    change = dict(change)
    if "values" in change:
        name = next(n for n, x in s.symbols.items() if x.kind == "constant")
        change["values"] = {name: 2.0}
    da.simulate(s, 2.0, start=STARTS[0])
    changed, again = (da.simulate(s, 2.0, start=STARTS[0], **change) for _ in range(2))
    first = da.simulate(double_pendulum.build(), 2.0, start=STARTS[0], **change)
    assert bits(first) == bits(changed) == bits(again)
    plain = da.simulate(s, 2.0, start=STARTS[0])
    assert bits(da.simulate(double_pendulum.build(), 2.0, start=STARTS[0])) == bits(plain)


def test_a_declaration_between_two_runs_counts() -> None:
    s = double_pendulum.build()
    before = da.simulate(s, 2.0, start=STARTS[0])
    s.generalized_force(s.symbols["alpha"].scalar, "-0.1*alpha.dot")
    assert bits(da.simulate(damped(), 2.0, start=STARTS[0])) == bits(
        da.simulate(s, 2.0, start=STARTS[0])
    )
    assert before["alpha"][-1] != da.simulate(s, 2.0, start=STARTS[0])["alpha"][-1]


def test_a_motion_keeps_its_memory() -> None:
    s = damped()
    one = da.simulate(s, 2.0, start=STARTS[0])
    seen = [one["alpha"].tolist(), one.at([0.3, 1.7])["beta"].tolist(), bits(one)]
    for start in STARTS:
        da.simulate(s, 2.0, start=start)["alpha*beta"]
    assert [one["alpha"].tolist(), one.at([0.3, 1.7])["beta"].tolist(), bits(one)] == seen
    assert bits(pickle.loads(pickle.dumps(one))) == bits(one)
    assert one["alpha**2 + beta"] == pytest.approx(one["alpha"] ** 2 + one["beta"])


def test_runs_of_several_threads_do_not_meet() -> None:
    s = damped()
    expected = [bits(da.simulate(damped(), 1.0, start=start)) for start in STARTS]
    found: dict[int, list[Any]] = {}

    def work(k: int) -> None:
        found[k] = [bits(da.simulate(s, 1.0, start=start)) for _ in range(3) for start in STARTS]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [expected * 3] * 4 == [found[k] for k in range(4)]


def test_a_run_inside_a_run_has_a_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    s, inner = double_pendulum.build(), []
    da.simulate(s, 2.0, start=STARTS[0])
    complete = simulate.complete

    def with_another_run(*given: Any) -> Any:
        monkeypatch.setattr(simulate, "complete", complete)
        inner.append(da.simulate(s, 2.0, start=STARTS[1]))
        return complete(*given)

    monkeypatch.setattr(simulate, "complete", with_another_run)
    outer = da.simulate(s, 2.0, start=STARTS[2])
    assert bits(da.simulate(double_pendulum.build(), 2.0, start=STARTS[1])) == bits(inner[0])
    assert bits(da.simulate(double_pendulum.build(), 2.0, start=STARTS[2])) == bits(outer)


def test_after_a_run_that_was_stopped() -> None:
    s = da.System("pole", gravity=9.81)
    x = s.coordinate("x")
    s.particle("m", 1, s.O.offset(x * s.N.x))
    s.generalized_force(x, x**2)
    for _ in range(2):
        with pytest.raises(da.RunStopped):
            da.simulate(s, 10.0, start={"x": 1.0, "x.dot": 1.0})
        run = da.simulate(s, 1.0, start={"x": -1.0})
        assert math.isfinite(run["x"][-1])
        again = da.simulate(s, 1.0, start={"x": -1.0})
        assert bits(run) == bits(again)


def test_the_next_run_writes_elsewhere() -> None:
    s = double_pendulum.build()
    da.simulate(s, 2.0, start=STARTS[0])
    run = da.simulate(s, 2.0, start=STARTS[1])
    states = run.solution.y
    da.simulate(s, 2.0, start=STARTS[2])
    assert np.shares_memory(states, run.solution.y)
    assert bits(da.simulate(double_pendulum.build(), 2.0, start=STARTS[1])) == bits(run)


def test_only_a_run_with_other_options_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    s = double_pendulum.build()
    da.simulate(s, 2.0, start=STARTS[0])
    monkeypatch.setattr(simulate, "_prepare", None)
    da.simulate(s, 2.0, start=STARTS[1])
    with pytest.raises(TypeError, match="not callable"):
        da.simulate(s, 2.0, start=STARTS[1], rtol=1e-7)
