"""Walls, belts, curved grounds and ropes in the scene."""

import numpy as np
import pytest

import dalembert as da
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg

FRAMES = 61


def drawn_point(declare, start, duration=1.0):
    """A particle in a plane with the contacts that `declare` gives it."""
    s = da.System("particle", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("ball", 1, P)
    declare(s, P)
    run = sample_frames(da.simulate(s, duration, start=start, progress=False), FRAMES)
    return run, build_scene(run)


def test_walls_are_strips_that_stand_on_the_floor():
    def declare(s, P):
        s.contact(P, restitution=0.8, name="floor")
        s.contact(P, s.N.x, through=s.O.offset(-1 * s.N.x), restitution=0.8, name="left")
        s.contact(P, -s.N.x, through=s.O.offset(1 * s.N.x), restitution=0.8, name="right")

    _, drawn = drawn_point(declare, {"y": 1.0, "x.dot": 2.0})
    assert ["left", "right"] == [strip.name for strip in drawn.surfaces]
    for strip, x in zip(drawn.surfaces, (-1, 1), strict=True):
        assert np.full(2, x) == pytest.approx(strip.line[:, 0])
        assert 0.0 == pytest.approx(strip.line[:, 1].min(), abs=1e-12)
        assert -np.sign(x) == strip.normal[0]
    # no link joins the points of two planes
    assert () == drawn.lines
    assert 0.0 == pytest.approx(drawn.view.ground)


def test_the_marks_of_a_belt_move_with_its_speed():
    def declare(s, P):
        s.contact(P, friction=0.2, speed=s.constant("v", 0.3), name="belt")

    run, drawn = drawn_point(declare, {"x.dot": 0.3})
    (strip,) = drawn.surfaces
    assert 0.3 * run.t == pytest.approx(strip.travel)
    # the normal of the level ground is up, and the belt moves along +x
    assert strip.line[1, 0] > strip.line[0, 0]


def test_a_table_that_is_shaken_moves_with_its_point():
    s = da.System("table", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("ball", 1, P)
    h = s.specified("h", "0.1*sin(t)")
    s.contact(P, through=s.O.offset(h * s.N.y, "top"), name="table")
    run = sample_frames(da.simulate(s, 1, start={"y": 0.5}, progress=False), FRAMES)
    (strip,) = build_scene(run).surfaces
    assert 0.1 * np.sin(run.t) == pytest.approx(strip.shift[:, 1], abs=1e-12)
    assert 0.0 == pytest.approx(strip.line[0, 1], abs=1e-12)


def test_a_curved_ground_is_the_curve():
    def declare(s, P):
        s.contact(P, height="0.3*cos(2*x)", friction=0.05, name="hill")

    _, drawn = drawn_point(declare, {"x": 0.4, "y": 0.3 * np.cos(0.8)}, 2.0)
    (strip,) = drawn.surfaces
    assert 0.3 * np.cos(2 * strip.line[:, 0]) == pytest.approx(strip.line[:, 1], abs=2e-3)
    assert np.ptp(strip.line[:, 0]) > 1


def test_a_rope_hangs_while_it_is_slack():
    _, drawn = drawn_point(lambda s, P: s.rope(s.O, P, 1.0, name="rope"), {"x": 0.5, "y": 0.2}, 2.0)
    (rope,) = drawn.lines
    assert ("rope", 1.0) == (rope.kind, rope.length)
    ends = drawn.points[rope.a].r, drawn.points[rope.b].r
    taut = int(np.argmax(np.linalg.norm(ends[1] - ends[0], axis=1)))
    pieces = [
        max(len(f.points) for f in draw_scene(drawn, k).faces if f.fill is None) for k in (0, taut)
    ]
    assert [25, 2] == pieces


def test_a_rope_over_a_pulley_has_two_parts():
    def declare(s, P):
        s.rope(s.O, P, 1.5, through=s.O.offset(s.N.x, "pulley"), name="rope")

    _, drawn = drawn_point(declare, {"x": 1.2, "y": -0.1}, 0.2)
    assert [("rope", 0.0)] * 2 == [(line.kind, line.length) for line in drawn.lines]


def test_surfaces_are_written_into_page_and_sketch():
    def declare(s, P):
        s.contact(P, s.N.x, through=s.O.offset(-1 * s.N.x), name="wall")

    _, drawn = drawn_point(declare, {"x.dot": -1.0}, 0.5)
    data_block("scene", scene_data(drawn))
    (strip,) = scene_data(drawn)["surfaces"]
    assert strip["travel"] is None
    bare = draw_scene(drawn, 0).faces
    assert len(bare) > 10
    assert "polyline" in svg(draw_scene(drawn, 0))
