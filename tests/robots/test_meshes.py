"""Links drawn by their meshes."""

from __future__ import annotations

import base64
import warnings

import numpy as np
import pytest

import dalembert as da
from cli.running import run
from dalembert.exchange.robots import meshes
from dalembert.interface.page.data_blocks import scene_data
from dalembert.interface.page.scene import build_scene

LINK = """<robot name="mallet"><link name="base"/>
  <link name="head"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><geometry>
      <mesh filename="{0}" scale="1 2 3"/></geometry></visual>
    <collision><geometry><mesh filename="{1}"/></geometry></collision></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="head"/>
    <axis xyz="0 1 0"/></joint></robot>"""
# a wedge: no two of its sides are alike
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 0.5, 0], [0, 0, 0.25]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def stl(path, corners=CORNERS, faces=FACES):
    """A binary STL: 80 bytes, how many, and for each a normal, three corners and two bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = np.zeros(len(faces), dtype=[("n", "<f4", 3), ("r", "<f4", (3, 3)), ("_", "<u2")])
    record["r"] = corners[faces]
    path.write_bytes(bytes(80) + np.uint32(len(faces)).tobytes() + record.tobytes())
    return path


def loaded(folder, visual, collision="absent.stl", **options):
    """The system, its warnings, and the primitives of the link."""
    file = folder / "urdf" / "mallet.urdf"
    file.parent.mkdir(exist_ok=True)
    file.write_text(LINK.format(visual, collision))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        s = da.load(file, meshes=True, root=folder, **options)
    return (
        s,
        " ".join(str(w.message) for w in said if "left out" not in str(w.message)),
        s.bodies[0].visuals,
    )


def places(p):
    """The corners of a primitive from the origin of the link."""
    found = p.centre + (p.surface.vertices * p.sizes) @ p.rotation.T + [0, 0, 0.5]
    return found[np.lexsort(found.round(5).T)]


def test_a_mesh_stands_where_the_file_puts_it(tmp_path):
    stl(tmp_path / "meshes" / "wedge.stl")
    _, said, (p,) = loaded(tmp_path, "package://somewhere/mallet/meshes/wedge.stl")
    assert said == ""
    # scaled, then turned by a right angle about z, then shifted
    x, y, z = (CORNERS * [1, 2, 3]).T
    expected = np.stack([1 - y, x, z], axis=1)
    assert np.allclose(places(p), expected[np.lexsort(expected.round(5).T)], atol=1e-6)
    # the page has the same corners, as parts of the box
    s, _, (p,) = loaded(tmp_path, "../meshes/wedge.stl")
    corners, faces = scene_data(build_scene(da.simulate(s, 0.01)))["bodies"][0]["mesh"]
    read = np.frombuffer(base64.b64decode(corners), dtype="<i2").reshape(-1, 3) / 32767
    assert np.allclose(read, p.surface.vertices, atol=1e-4)
    assert np.array_equal(
        np.frombuffer(base64.b64decode(faces), dtype="<u2").reshape(-1, 3), p.surface.faces
    )


def test_the_collision_shape_stands_in_for_a_visual_that_cannot_be_read(tmp_path):
    stl(tmp_path / "wedge.stl")
    (tmp_path / "look.dae").write_text("<COLLADA/>")
    _, said, (p,) = loaded(tmp_path, "../look.dae", "../wedge.stl")
    assert (said, p.kind) == ("", "mesh")
    assert places(p).max(axis=0) == pytest.approx([1, 0.5, 0.25])


def test_what_is_missing_or_broken_or_outside_is_named_once_and_a_bar_is_drawn(tmp_path):
    outside = stl(tmp_path.parent / f"{tmp_path.name} outside.stl")
    (tmp_path / "broken.stl").write_bytes(b"no mesh at all")
    for named, word in (
        (f"../../{outside.name}", "not found inside"),
        (f"file://{outside}", "not found inside"),
        ("../broken.stl", "cannot read"),
    ):
        _, said, looks = loaded(tmp_path, named)
        assert {p.kind for p in looks} == {"cylinder", "sphere"}
        assert word in said
        assert f"{named.rpartition('/')[2]} of head" in said
        assert said.count("meshes that are not drawn") == 1
    _, said, _ = loaded(tmp_path, "")
    assert "no file name of head" in said


def test_a_fine_mesh_is_drawn_coarser_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 500)
    n = 60
    a, b = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij")
    ball = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(
        -1, 3
    )
    k = np.arange((n - 1) * n).reshape(n - 1, n)[:, :-1].ravel()
    stl(
        tmp_path / "ball.stl",
        ball,
        np.concatenate([np.stack([k, k + n, k + 1], 1), np.stack([k + 1, k + n, k + n + 1], 1)]),
    )
    _, said, (p,) = loaded(tmp_path, "absent.dae", "../ball.stl")
    assert "drawn with at most 500 in a mesh: head" in said
    assert 250 < len(p.surface.faces) <= 500
    # it is still a ball
    assert np.abs(np.linalg.norm(places(p), axis=1) - 1).max() < 0.1


def test_meshes_of_an_mjcf_file(tmp_path):
    stl(tmp_path / "wedge.stl")
    file = tmp_path / "hammer.xml"
    file.write_text("""<mujoco><asset><mesh name="w" file="wedge.stl"/></asset><worldbody>
      <body name="b"><joint axis="0 1 0"/>
      <inertial pos="0 0 0.5" mass="1" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="w" pos="0 0 2"/><geom type="sphere" size="1"/>
      </body></worldbody></mujoco>""")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        (p,) = da.load(file, meshes=True).bodies[0].visuals
        assert places(p).min(axis=0) == pytest.approx([0, 0, 2], abs=1e-6)
        (tmp_path / "wedge.stl").unlink()
        assert {p.kind for p in da.load(file, meshes=True).bodies[0].visuals} == {
            "cylinder",
            "sphere",
        }
    assert sum("wedge.stl" in str(w.message) for w in said) == 1


def test_meshes_belong_to_robots():
    refused = run("report", "rolling-disk", "--meshes")
    assert 0 != refused.exit_code
    assert "--meshes and --root go with a robot's file" in refused.stderr
