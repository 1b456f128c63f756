"""Reports of large systems: the size, the steps in outline and the recursion instead of formulas;
energies and accelerations by the shorter ways that only large systems take.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import double_pendulum, four_bar, spatial_chain
from dalembert.interface.page.report_page import write_report
from dalembert.interface.report import large_systems
from dalembert.runtime.numerics import compiled_function


@pytest.fixture
def nothing_is_readable(monkeypatch):
    """Every system counts as large."""
    monkeypatch.setattr(large_systems, "READABLE_SIZE", 10)


def test_page_of_a_large_tree_shows_size_outline_and_recursion(nothing_is_readable, tmp_path):
    page = write_report(double_pendulum.build(), tmp_path / "page.html", duration=0.1).read_text()
    assert 11 == page.count("They are too long to be read: dalembert derive SYSTEM --by")
    assert 11 == page.count("<h3>Derivation in outline</h3>")
    assert "Recursive form, link by link" in page
    assert "articulated inertia, tips to root" in page
    assert "Velocities of 2 bodies are too long to be read" in page


def test_page_of_a_small_system_shows_its_equations(tmp_path):
    page = write_report(double_pendulum.build(), tmp_path / "page.html", duration=0.1).read_text()
    assert "too long to be read" not in page
    assert "Recursive form" not in page


def test_large_system_without_a_tree_has_a_reason(nothing_is_readable):
    kin = da.kane(four_bar.build()).kinematics
    (block,) = large_systems.recursion(kin)
    assert "No recursive form" in str(block)


def test_kinetic_energy_by_the_recursion_of_velocities():
    # beyond 12 speeds K₂ is made of the recursion; T is that of the description
    run = da.simulate(spatial_chain.build(14), 0.05, progress=False)
    assert run.kinetic_energy == pytest.approx(run.integrals.K2, rel=1e-13)
    assert run.integrals.is_model_consistent


def test_single_calls_have_the_bits_of_vectorized_code(monkeypatch):
    run = da.simulate(spatial_chain.build(3), 1.0, progress=False)
    rates, p = run.accelerations.rates, run.accelerations.parameters
    X = np.column_stack([run.state_rows, run.t])
    few = rates.at_states(X, p)
    assert "batch" not in rates.__dict__
    monkeypatch.setattr(compiled_function, "_FEW_STATES", 2)
    monkeypatch.setattr(compiled_function, "_FEW_STATES_PER_NODE", 0)
    assert np.array_equal(few, rates.at_states(X, p))
    assert "batch" in rates.__dict__


def test_states_that_are_evaluated_again_and_again_are_vectorized(monkeypatch):
    run = da.simulate(spatial_chain.build(2), 0.1, progress=False)
    rates, p = run.accelerations.rates, run.accelerations.parameters
    X = np.column_stack([run.state_rows, run.t])
    rates.__dict__.pop("batch", None)
    monkeypatch.setattr(rates, "_single_states", 0)
    monkeypatch.setattr(compiled_function, "_FEW_STATES", len(X))
    monkeypatch.setattr(compiled_function, "_FEW_STATES_PER_NODE", 0)
    values, compiled = [], []
    for _ in range(8):
        values.append(rates.at_states(X, p))
        compiled.append("batch" in rates.__dict__)
    # once, after single calls for five times as many states
    assert [False] * 5 == compiled[:5]
    assert compiled[-1]
    assert all(np.array_equal(values[0], each) for each in values)
