"""XML that reaches for other files or expands entities is refused before anything opens it."""

from __future__ import annotations

import pytest

import dalembert as da

ROBOT = '<robot name="r"><link name="a"/></robot>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'<!DOCTYPE robot [<!ENTITY x "y">]>{ROBOT}', "DOCTYPE"),
        (f'<!DOCTYPE robot SYSTEM "http://example.org/x.dtd">{ROBOT}', "DOCTYPE"),
        ("<robot><link", "not well-formed"),
        ('<mujoco><include file="/etc/passwd"/></mujoco>', "outside"),
        ('<mujoco><include file="../other.xml"/></mujoco>', "outside"),
        ('<robot><include file="../other.xml"/></robot>', "outside"),
        ('<mujoco><asset><mesh file="../../x.stl"/></asset></mujoco>', "outside"),
        (
            '<mujoco><compiler meshdir="/tmp"/><asset><mesh file="x.stl"/></asset></mujoco>',
            "outside",
        ),
        ('<mujoco><asset><texture fileback="/etc/x.png"/></asset></mujoco>', "outside"),
        ('<mujoco><asset><model name="m" file="/etc/x.xml"/></asset></mujoco>', "outside"),
        ("<html/>", "a URDF begins with <robot>"),
    ],
)
def test_harmful_or_foreign_files_are_refused(tmp_path, text, said):
    file = tmp_path / "in" / "r.xml"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(da.BadDescription, match=said):
        da.load(file)


def test_an_include_that_declares_entities_is_refused(tmp_path):
    (tmp_path / "part.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><mujocoinclude/>')
    file = tmp_path / "r.xml"
    file.write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(da.BadDescription, match=r"part\.xml.*DOCTYPE"):
        da.load(file)


def test_a_folder_named_in_an_include_moves_the_meshes_of_the_file(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "part.xml").write_text('<mujoco><compiler meshdir="/etc"/></mujoco>')
    file = tmp_path / "in" / "r.xml"
    file.write_text(
        '<mujoco><include file="part.xml"/><asset><mesh file="x.stl"/></asset></mujoco>'
    )
    with pytest.raises(da.BadDescription, match="outside"):
        da.load(file)


def test_a_file_that_includes_itself_is_refused(tmp_path):
    file = tmp_path / "r.xml"
    file.write_text('<mujoco><include file="r.xml"/></mujoco>')
    with pytest.raises(da.BadDescription, match="include itself"):
        da.load(file)


def test_root_widens_what_may_be_included(tmp_path):
    (tmp_path / "common.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    file = tmp_path / "models" / "r.xml"
    file.parent.mkdir()
    body = (
        '<worldbody><body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="1 0 '
        '0"/></body></worldbody>'
    )
    file.write_text(f'<mujoco><include file="../common.xml"/>{body}</mujoco>')
    with pytest.raises(da.BadDescription, match="give root="):
        da.load(file)
    s = da.load(file, root=tmp_path)
    assert -1.0 == pytest.approx(da.evaluate(s, s.gravity_field.g)[2])


@pytest.mark.parametrize(
    ("name", "said"), [("none.urdf", "no file"), ("model.step", "URDF"), ("", "URDF")]
)
def test_what_is_no_file_of_ours(tmp_path, name, said):
    with pytest.raises(da.BadDescription, match=said):
        da.load(tmp_path / name if name else "")
