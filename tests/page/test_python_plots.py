"""run.plot on axes of the caller, in a size and a style; several runs in one figure; modes and
root loci.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

figures = pytest.importorskip("matplotlib.figure")


@pytest.fixture(scope="module")
def runs():
    entry = gallery.entry("double-pendulum")
    s = entry.build()
    return [da.simulate(s, 2, start={"alpha": a}, progress=False) for a in (1.0, 0.5)]


def test_several_runs_share_the_panels(runs):
    first, second = runs
    axes = figures.Figure().subplots(2)
    shown = first.plot("alpha", "beta", compare={"small": second}, ax=axes)
    assert axes[0].figure is shown.figure
    assert ["run 1", "small"] == [line.get_label() for line in axes[0].lines]
    assert 0.5 == pytest.approx(axes[0].lines[1].get_ydata()[0])


def test_differences_are_drawn_where_two_runs_coincide(runs, tmp_path):
    first, other = runs
    rough = da.simulate(first.system, 2, start={"alpha": 1.0}, rtol=1e-5, progress=False)
    shown = first.plot("alpha", compare={"rough": rough}, path=tmp_path / "a.svg").source.panels
    assert ["α", "α: difference from run 1"] == [panel.title for panel in shown]
    (apart,) = shown[1].curves
    expected = rough.at(apart.x)["alpha"] - first.at(apart.x)["alpha"]
    assert expected == pytest.approx(apart.values, abs=1e-5)
    assert 0 < np.abs(apart.values).max() < 1e-3
    # curves that can be distinguished, and equal ones, need no differences
    for each in (other, first):
        assert 1 == len(first.plot("alpha", compare=[each], path=tmp_path / "b.svg").source.panels)


def test_size_and_style_are_those_of_the_caller(runs, tmp_path):
    shown = runs[0].plot("alpha", figsize=(3, 2), style="ggplot", path=tmp_path / "a.png")
    assert [3, 2] == list(shown.figure.get_size_inches())
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"style": "no such style"}, "no such style"),
        ({"ax": 3}, "axes of matplotlib"),
        ({"compare": [3]}, "takes runs"),
        ({"figsize": "wide"}, "figsize"),
    ],
)
def test_what_cannot_be_drawn_is_refused(runs, tmp_path, given, words):
    with pytest.raises(da.DalembertError, match=words):
        runs[0].plot("alpha", path=tmp_path / "x.png", **given)


def test_modes_and_root_loci_are_drawn(tmp_path):
    s = gallery.entry("double-pendulum").build()
    locus = da.root_locus(s, "g", np.linspace(1, 10, 5))
    axes = figures.Figure().subplots(2)
    locus.plot(ax=axes)
    assert locus.eigenvalues.shape[1] == len(axes[1].get_lines()) - 1
    modes = locus.models[0].modes()
    shown = modes.plot(tmp_path / "modes.svg")
    assert (tmp_path / "modes.svg").read_text(encoding="utf-8").startswith("<svg")
    (line, *_) = [x for x in shown.figure.axes[0].lines if len(x.get_xdata()) == 4]
    assert sorted(modes.nonstructural.imag) == pytest.approx(sorted(line.get_ydata()))
