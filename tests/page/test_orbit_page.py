"""The page of a periodic motion: one period in a loop, the unit circle, and the diagram."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Visit

import dalembert as da
from periodic.systems import duffing, equal_double_pendulum, van_der_pol


def test_page_of_an_orbit_has_its_numbers(tmp_path: Path) -> None:
    orbit = da.periodic(equal_double_pendulum(), {}, mode=1, amplitude=0.3)
    text = orbit.page(tmp_path / "orbit.html").read_text(encoding="utf-8")
    assert f"{orbit.period:.12g}" in text
    assert "data-loop checked" in text
    assert "1, exactly: time shift" in text
    assert '<svg style="max-width:100%;height:auto"' in text
    assert 'id="family"' not in text


def test_page_of_a_family_has_its_letters(tmp_path: Path) -> None:
    family = da.continuation(da.periodic(duffing(0.8), {"x": 1.0}), "Omega", (0.8, 1.7), step=0.1)
    text = family.page(tmp_path / "family.html", quantity="x").read_text(encoding="utf-8")
    assert [m.kind for m in family.marks] == ["fold", "fold"]
    for mark in family.marks:
        assert f"{mark.value:.12g}" in text
    assert text.count("<td>F</td><td>fold</td>") == 2


def test_half_of_a_symmetric_motion_is_shown_twice(tmp_path: Path) -> None:
    """The animation closes: it has the whole period."""
    half = da.periodic(van_der_pol(), {"x": 2.0}, 3.3, closing={"x": "-x", "x'": "-x'"})
    text = half.page(tmp_path / "half.html").read_text(encoding="utf-8")
    assert f'max="{2 * half.period:.9g}'[:-2] in text


@pytest.mark.slow
def test_browser_plays_the_orbit_in_a_loop(browser, tmp_path: Path) -> None:
    orbit = da.periodic(equal_double_pendulum(), {}, mode=1, amplitude=0.6)
    visit = Visit(browser.new_context(offline=True), orbit.page(tmp_path / "orbit.html"))
    assert visit.do("clock.last - clock.first") == pytest.approx(orbit.period, rel=1e-6)
    ends = visit.do(
        "stage.places.map(p => Array.from(p.r)).filter(r => r.length > 3)"
        ".map(r => [0, 1, 2].map(k => Math.abs(r[k] - r[r.length - 3 + k])))"
    )
    assert max(x for row in ends for x in row) < 1e-5
    visit.do("clock.set(clock.last - 0.01)")
    visit.do("clock.play(true)")
    visit.until("clock.time < clock.last / 2")
    assert visit.do("clock.playing")
    assert visit.said == []
