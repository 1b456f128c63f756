"""A file that MuJoCo has read is not read by it again, unless anything that it was read from has
changed.
"""

from __future__ import annotations

import warnings

import pytest

import dalembert as da
from dalembert.exchange.robots import load_robot, record_cache
from dalembert.exchange.robots.xml_validation import checked_file

BODY = '<worldbody><body name="b"><joint name="j" axis="0 1 0"/>{}</body></worldbody>'
EMPTY = "<mujoco><default/></mujoco>"
BALL = '<geom size="0.1" pos="1 0 0"/>'
MESH = '<geom type="mesh" mesh="x"/>'
OBJ = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("DALEMBERT_CACHE", str(place))
    return place


@pytest.fixture
def readings(monkeypatch):
    """The names of the files that MuJoCo has read."""
    seen, read = [], load_robot.read_robot

    def counted(checked):
        seen.append(checked.path.name)
        return read(checked)

    monkeypatch.setattr(load_robot, "read_robot", counted)
    return seen


def loaded(file, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        s = da.load(file, **options)
    return s, [str(w.message) for w in said]


@pytest.mark.parametrize("which", ["arm", pytest.param("walker", marks=pytest.mark.slow), "loop"])
def test_the_second_time_nothing_is_read_and_all_is_the_same(which, request, readings):
    file = request.getfixturevalue(which)
    first, said = loaded(file)
    second, again = loaded(file)
    assert [file.name] == readings
    assert first.origin.robot == second.origin.robot
    assert said == again
    assert str(da.kane(first).equations) == str(da.kane(second).equations)


def test_what_is_chosen_is_applied_to_what_is_kept(arm, readings):
    fixed, _ = loaded(arm)
    free, _ = loaded(arm, base="free", attitude="angles")
    named, _ = loaded(arm, symbols=["mass"])
    assert [arm.name] == readings
    assert len(fixed.q) + 6 == len(free.q)
    assert "m_tool" in named.symbols
    assert "m_tool" not in fixed.symbols


def test_a_file_that_changed_is_read_again(arm, readings):
    loaded(arm)
    arm.write_text(arm.read_text().replace('<mass value="2"/>', '<mass value="2.5"/>'))
    s, _ = loaded(arm)
    assert 2 == len(readings)
    assert 2.5 == next(b for b in s.origin.robot.bodies if b.name == "upper-arm").inertial.mass


def test_an_include_that_changed_or_appeared_is_read_again(tmp_path, readings):
    part = tmp_path / "parts" / "common.xml"
    part.parent.mkdir()
    part.write_text('<mujoco><option gravity="0 0 -1"/><include file="more.xml"/></mujoco>')
    (tmp_path / "more.xml").write_text(EMPTY)
    file = tmp_path / "r.xml"
    file.write_text(f'<mujoco><include file="parts/common.xml"/>{BODY.format(BALL)}</mujoco>')
    for _ in range(2):
        s, _ = loaded(file)
    part.write_text(part.read_text().replace("-1", "-2"))
    s, _ = loaded(file)
    assert -2.0 == s.origin.robot.gravity[2]
    assert 2 == len(readings)
    # it was looked for there too, and may be the one that counts
    (part.parent / "more.xml").write_text(EMPTY)
    loaded(file)
    assert 3 == len(readings)


def test_a_mesh_that_changed_is_read_again(tmp_path, readings):
    (tmp_path / "shapes").mkdir()
    mesh = tmp_path / "shapes" / "x.obj"
    mesh.write_text(OBJ.format(1))
    file = tmp_path / "r.xml"
    file.write_text(
        f'<mujoco><compiler meshdir="shapes"/><asset><mesh name="x" '
        f'file="x.obj"/></asset>{BODY.format(MESH)}</mujoco>'
    )
    small = [loaded(file)[0].origin.robot.bodies[0].inertial.mass for _ in range(2)]
    mesh.write_text(OBJ.format(2))
    large = loaded(file)[0].origin.robot.bodies[0].inertial.mass
    assert 2 == len(readings)
    assert pytest.approx(8 * small[0]) == pytest.approx(8 * small[1]) == large


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '<robot name="r"><link name="a"/><gazebo><plugin filename="lib.so"/></gazebo></robot>',
            None,
        ),
        (f"<mujoco>{BODY.format(BALL)}</mujoco>", None),
        (f'<mujoco><asset><mesh file="x.obj"/></asset>{BODY.format(BALL)}</mujoco>', "absent"),
        (f'<mujoco><compiler strippath="true"/>{BODY.format(BALL)}</mujoco>', "stripped"),
        (
            f'<mujoco><extension><plugin plugin="p"/></extension>{BODY.format(BALL)}</mujoco>',
            "plugin",
        ),
    ],
)
def test_nothing_is_kept_where_it_cannot_be_told_what_is_read(tmp_path, text, why):
    file = tmp_path / "r.xml"
    file.write_text(text)
    assert (checked_file(file).files is None) == (why is not None)


def test_a_damaged_record_is_read_and_written_again(arm, cache, readings):
    loaded(arm)
    (kept,) = cache.glob("*.obj")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-3] + b"7]]")
    loaded(arm)
    assert 2 == len(readings)
    assert whole == kept.read_bytes()
    loaded(arm)
    assert 2 == len(readings)


def test_another_version_of_mujoco_reads_again(arm, monkeypatch, readings):
    loaded(arm)
    monkeypatch.setattr(record_cache, "_mujoco_version", lambda: "mujoco-0.0.0.dist-info")
    loaded(arm)
    assert 2 == len(readings)


def test_what_is_refused_stays_refused_when_it_is_kept(tmp_path, readings):
    (tmp_path / "common.xml").write_text(EMPTY)
    file = tmp_path / "models" / "r.xml"
    file.parent.mkdir()
    file.write_text(f'<mujoco><include file="../common.xml"/>{BODY.format(BALL)}</mujoco>')
    loaded(file, root=tmp_path)
    with pytest.raises(da.BadDescription, match="give root="):
        loaded(file)
    assert 1 == len(readings)
