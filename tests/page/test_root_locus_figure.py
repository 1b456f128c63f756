"""Eigenvalues over the speed of a steady motion, on the page of the bicycle."""

from __future__ import annotations

import pytest

from dalembert import gallery
from dalembert.interface.page.mode_shapes import linearized_points
from dalembert.interface.page.report_page import report_run_options
from dalembert.interface.page.root_locus_figure import locus_figure


@pytest.fixture(scope="module")
def points():
    entry = gallery.entry("whipple-bicycle")
    return linearized_points(entry.build(), report_run_options(entry.start))


@pytest.mark.slow
def test_weave_and_capsize_speeds_are_those_of_the_benchmark(points):
    """Meijaard et al. 2007 print 4.292 and 6.024 m/s."""
    *_, point = points
    assert (4.292, 6.024) == tuple(round(x, 3) for x in point.locus.limits)
    ((low, high),) = point.locus.stable_ranges
    assert point.locus.limits == (low, high)
    names = ("capsize", "weave", "castering")
    assert {"weave": 2, "capsize": 1, "castering": 1} == {
        name: point.locus.names(names).count(name) for name in names
    }
    figure = locus_figure(point.locus, names)
    assert 2 == figure.count('class="stable"')
    assert "Stable for 4.29238 &lt; v &lt; 6.02426" in figure


@pytest.mark.slow
def test_a_motion_that_is_not_steady_is_left_out(points):
    """φ̇ = 0.5 has no acceleration at φ = 0, but φ changes."""
    assert ["At rest", "Steady motion with v = 4.6"] == [point.title for point in points]
