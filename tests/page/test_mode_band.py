"""Contacts in a page: bands, arrows and columns of a block on a belt against its closed form;
the whole page from a model file.
"""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise

import numpy as np
import pytest

import dalembert as da
from cli.running import run as command
from dalembert.interface.page.data_blocks import largest_magnitude, scene_data
from dalembert.interface.page.scene import build_scene
from dalembert.interface.page.time_plots import WIDTH, Plots, mode_bands
from dalembert.runtime.simulation.plotting.chart import Curve, Panel

M, K, V, MU, MU_S, G = 2.0, 50.0, 0.3, 0.2, 0.5, 9.81
# k x = μ_s m g where the block lets go; then m ẍ = −k x + μ m g until ẋ = v again
LETS_GO = MU_S * M * G / (K * V)
OMEGA, D = np.sqrt(K / M), (MU_S - MU) * M * G / K
STICKS = LETS_GO + 2 / OMEGA * (np.pi - np.arctan(OMEGA * D / V))
MODEL = f"""
name = "Block on a <belt>"
gravity = {G}
coordinates = "x y"
point.P = "x*N.x + y*N.y"
particle.block = {{ mass = {M}, at = "P" }}
spring.wall = {{ k = {K}, P = "P", Q = "O" }}
contact.belt = {{ at = "P", friction = {MU}, static = {MU_S}, speed = {V} }}
"""


@pytest.fixture(scope="module")
def run():
    s = da.System("block on a belt", gravity=G)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("block", M, P)
    s.spring(K, P, s.O)
    s.contact(P, friction=MU, static=MU_S, speed=V, name="belt <1>")
    return da.simulate(s, 6.0, start={x.dot: V})


def test_spans_end_where_the_closed_form_says_and_leave_no_gap(run):
    (spans,) = mode_bands(run).spans.values()
    assert ["sticks", "slips −", "sticks"] == [s.mode for s in spans[:3]]
    assert (0.0, LETS_GO, STICKS) == pytest.approx(tuple(s.begin for s in spans[:3]), abs=1e-9)
    assert [s.end for s in spans] == [*(s.begin for s in spans[1:]), 6.0]
    assert all(a.mode != b.mode for a, b in pairwise(spans))


def test_the_band_is_as_long_as_the_modes_last(run):
    bands = mode_bands(run)
    (spans,) = bands.spans.values()
    for mode, kind in (("sticks", "sticks"), ("slips −", "backward")):
        drawn = re.search(f'id="mode-bands">.*?<path class="{kind}" d="([^"]+)"', bands.figure())[1]
        wide = sum(int(h) for h in re.findall(r"M\d+ \d+h(\d+)", drawn))
        lasts = sum(s.end - s.begin for s in spans if s.mode == mode)
        assert wide == pytest.approx(WIDTH * lasts / 6.0, abs=len(spans))


def test_words_stand_beside_colours_and_only_modes_that_occur(run):
    text = mode_bands(run).figure()
    assert "belt &lt;1&gt;" in text
    assert "<1>" not in text
    legend = re.search(r'class="legend">(.*?)</div>', text)[1]
    assert ["sticks", "slips −"] == re.findall(r"</svg>([^<]+)</span>", legend)
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", text)
    assert ("belt &lt;1&gt;", "0", f"{LETS_GO:.6g}", "sticks") == rows[0]


def test_every_plot_has_the_band_below_it_and_the_cursor_its_modes(run):
    plots = Plots.of_run(run)
    text = plots.grid([Panel("x", (Curve("x", run.t, run["x"]),))])
    assert 1 == text.count('<use href="#mode-bands"/>')
    (told,) = plots.json_data()["modes"]
    assert {"sticks", "slips −"} == set(told["m"])
    assert len(told["t"]) == len(told["m"])


def test_arrows_are_the_forces_of_the_contact(run):
    t = np.array([0.5 * LETS_GO, 0.5 * (LETS_GO + STICKS)])
    drawn = build_scene(run.at(t))
    arrows = {a.kind: a for a in drawn.arrows}
    # no reaction is drawn where there is none but rounding
    assert {"weight", "normal", "friction"} == set(arrows)
    assert np.array([[0, M * G, 0]] * 2) == pytest.approx(arrows["normal"].vector, abs=1e-9)
    # it sticks, and carries the spring; it slips, and is dragged along
    assert np.array([[K * V * t[0], 0, 0], [MU * M * G, 0, 0]]) == pytest.approx(
        arrows["friction"].vector, abs=1e-9
    )
    assert run.at(t)["x"] == pytest.approx(arrows["friction"].at[:, 0])
    assert M * G == pytest.approx(largest_magnitude(drawn, "force"))
    assert 0.0 == scene_data(drawn)["view"]["ground"]


def test_an_incline_is_drawn_as_a_line_along_it():
    s = da.System("incline", gravity=G)
    x, y = s.coordinates("x y")
    plane = s.N.rotated(0.5, s.N.z)
    P = s.O.offset(x * plane.x + y * plane.y, "P")
    s.particle("block", 1, P)
    s.contact(P, plane.y, friction=0.1)
    drawn = build_scene(da.simulate(s, 0.5, start={y: 0.05}).at(np.linspace(0, 0.5, 9)))
    (strip,) = drawn.surfaces
    assert np.tan(0.5) == pytest.approx(strip.line[:, 1] / strip.line[:, 0])
    assert drawn.view.ground is None


def test_a_model_file_with_contacts_becomes_a_page_and_a_table(tmp_path):
    (tmp_path / "belt.toml").write_text(MODEL, encoding="utf-8")
    told = command(
        "report",
        str(tmp_path / "belt.toml"),
        "--start",
        "x.dot=0.3",
        "--for",
        "3",
        "-o",
        str(tmp_path / "belt.html"),
    )
    assert 0 == told.exit_code, told.output
    text = (tmp_path / "belt.html").read_text(encoding="utf-8")
    assert "Contact modes" in text
    assert 'id="live"' in text
    table = json.loads(re.search(r'id="table">(.*?)</script>', text)[1])
    assert ["t", "x", "y", "x.dot", "y.dot", "N_belt", "T_belt", "mode of belt"] == table["names"]
    values = np.frombuffer(base64.b64decode(table["values"]), "<f8").reshape(-1, 8)
    assert {2.0, -3.0} == set(values[:, -1])
    told = command(
        "simulate",
        str(tmp_path / "belt.toml"),
        "--start",
        "x.dot=0.3",
        "--for",
        "3",
        "-o",
        str(tmp_path / "belt.csv"),
    )
    assert 0 == told.exit_code, told.output
    head, *rows = (tmp_path / "belt.csv").read_text(encoding="utf-8").splitlines()
    assert head.endswith("N_belt,T_belt,mode of belt")
    assert {"2", "-3"} == {row.rpartition(",")[2] for row in rows}
