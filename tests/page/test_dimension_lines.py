"""Letters in the sketch: arcs are the angles they name, lengths lie along their links, and no
letter lies on another.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.scene import build_scene
from dalembert.interface.page.sketch_dimensions import DimensionLine, SketchLabel, place_labels
from dalembert.interface.page.svg_drawing import draw_scene, svg


def drawn(s: da.System, start: dict[str, float]):
    return build_scene(da.simulate(s, 0.1, start=start).at(np.linspace(0, 0.1, 5)), arrows=False)


def cart() -> da.System:
    """A pendulum on a cart, whose angle is counted from the vertical."""
    s = da.System("cart", gravity=9.81)
    m, l = s.constants(m=1, l_R=2)
    x, theta = s.coordinates("x theta_1")
    B = s.N.rotated(theta, s.N.z)
    P = s.O.offset(x * s.N.x, "P")
    s.particle("cart", m, P)
    s.particle("bob", m, P.offset(-l * B.y, "Q"))
    return s


def test_an_arc_goes_from_where_the_angle_is_counted_to_the_body():
    found = {d.text: d for d in drawn(cart(), {"x": 1.5, "theta_1": 0.7}).dimensions}
    assert {"θ₁", "x", "l_R"} == set(found)
    arc, corner = found["θ₁"].line, found["θ₁"].leg[0]
    assert np.array([1.5, 0, 0]) == pytest.approx(corner)
    ways = (arc - corner) / np.linalg.norm(arc - corner, axis=1, keepdims=True)
    assert np.array([0, -1, 0]) == pytest.approx(ways[0], abs=1e-12)
    assert np.array([np.sin(0.7), -np.cos(0.7), 0]) == pytest.approx(ways[-1], abs=1e-12)
    assert 0.7 == pytest.approx(np.arccos(ways[0] @ ways[-1]))
    assert np.array([[0, 0, 0], [1.5, 0, 0]]) == pytest.approx(found["x"].line)
    assert np.array([1.5 + 2 * np.sin(0.7), -2 * np.cos(0.7), 0]) == pytest.approx(
        found["l_R"].line[1]
    )


def test_an_angle_that_is_zero_has_no_arc_and_the_tape_stays_as_it_was():
    s = cart()
    before = len(s.space.tape.nodes)
    shown = drawn(s, {"x": 1.5})
    assert {"x", "l_R"} == {d.text for d in shown.dimensions}
    assert before == len(s.space.tape.nodes)


def test_an_index_stands_lower_and_names_are_escaped():
    assert "_" not in svg(draw_scene(drawn(cart(), {"x": 1.5}), letters=True))
    assert "&lt;" in SketchLabel("<", 0, 0, 10).svg
    assert "<text" not in svg(draw_scene(drawn(cart(), {"x": 1.5})))


@pytest.mark.parametrize("name", ["double-pendulum", "rolling-disk", "four-bar", "gyroscope"])
@pytest.mark.parametrize("size", [(480.0, 300.0), (900.0, 460.0)])
def test_no_letter_lies_on_another(name, size):
    entry = gallery.entry(name)
    made = draw_scene(drawn(entry.build(), entry.start), 0, *size, letters=True)
    assert made.labels
    assert not [(a.text, b.text) for a, b in combinations(made.labels, 2) if a.overlaps(b)]
    assert all(
        0 <= x.box[0] and 0 <= x.box[1] and x.box[2] <= size[0] and x.box[3] <= size[1]
        for x in made.labels
    )


def test_a_letter_without_room_is_left_out():
    line = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    same = [DimensionLine(f"a{k}", line) for k in range(40)]
    placed = [
        label for _, label in place_labels(same, lambda p: (50 + p[:, :2], p[:, 2]), 100.0, 100.0)
    ]
    assert 1 < len(placed) < 40
    assert not any(a.overlaps(b) for a, b in combinations(placed, 2))
