"""A system that is run again and again: native code judges its energy as the first runs do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dalembert as da
from dalembert.foundation.array_types import FloatArray
from dalembert.gallery import double_pendulum
from dalembert.runtime.simulation import simulate
from dalembert.runtime.simulation.energy_audit import Audit, BoundAudit
from dalembert.runtime.simulation.trajectory import Trajectory

START = {"alpha": 1.0, "beta": -0.5}


@pytest.fixture(autouse=True)
def _later_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of a system counts as the hundredth."""
    monkeypatch.setattr(Audit, "_run_count", itertools.count(100))


def damped() -> da.System:
    s = double_pendulum.build()
    s.generalized_force(s.symbols["alpha"].scalar, "-0.1*alpha.dot")
    return s


def test_native_energy_errors_equal_those_of_the_integrals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tuple[float, float] | None] = []
    whole = BoundAudit.largest_errors

    def record(self: BoundAudit, t: FloatArray, y: FloatArray) -> tuple[float, float] | None:
        found.append(whole(self, t, y))
        return found[-1]

    monkeypatch.setattr(BoundAudit, "largest_errors", record)
    run = da.simulate(damped(), 5.0, start=START)
    [errors] = found
    assert errors is not None
    E = run.integrals
    assert abs(E.Z[-1]) > 0.1
    assert errors[0] == pytest.approx(E.drift, abs=1e-14 * E.largest_energies)
    assert errors[1] == pytest.approx(E.largest_energies, rel=1e-14)


@pytest.mark.parametrize(("wrong", "expected"), [(0.0, True), (0.01, False)])
def test_only_a_small_energy_error_is_cleared(
    monkeypatch: pytest.MonkeyPatch, wrong: float, *, expected: bool
) -> None:
    """Energies with other constants than those of the motion are not constant along it."""
    asked: list[bool] = []
    whole = simulate.keeps_energy

    def with_wrong_constants(run: Trajectory, watched: BoundAudit, rtol: float) -> bool:
        p = watched.p * np.linspace(1.0, 1.0 + wrong, watched.p.size)
        asked.append(whole(run, BoundAudit(watched.audit, p), rtol))
        return asked[-1]

    monkeypatch.setattr(simulate, "keeps_energy", with_wrong_constants)
    da.simulate(double_pendulum.build(), 5.0, start=START)
    assert asked == [expected]


def test_an_energy_error_is_warned_about_in_a_later_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit with other constants, by native code and by the integrals."""

    def wrong_energies(*_: object) -> tuple[float, float]:
        return 1.0, 1.0

    monkeypatch.setattr(BoundAudit, "largest_errors", wrong_energies)
    monkeypatch.setattr(
        "dalembert.analysis.integrals.run_integrals.RunIntegrals.drift", 1.0, raising=True
    )
    with pytest.warns(da.DalembertWarning, match="the energy error is"):
        da.simulate(double_pendulum.build(), 1.0, start=START)
