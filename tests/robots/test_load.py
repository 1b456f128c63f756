"""What a file says becomes a System, and what cannot is said."""

from __future__ import annotations

import re
import warnings

import pytest

import dalembert as da
from dalembert.cli.system_lookup import run_options
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.system_tables import symbol_table

LINK = (
    '<link name="{}"><inertial><mass value="{}"/><inertia ixx="{}" iyy="1" izz="1" ixy="0" '
    'ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/></joint>'
)


def quiet(file, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return da.load(file, **options)


def written(tmp_path, *parts):
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return file


def test_what_is_left_out_is_listed_by_name_in_one_warning(walker):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        da.load(walker)
    (text,) = [str(w.message) for w in said if "left out" in str(w.message)]
    for what in (
        "contacts",
        "joint limits (hip)",
        "dry friction (knee)",
        "not mapped (muscle)",
        "ranges of controls and forces (hip motor)",
    ):
        assert what in text


def test_names_are_made_legal_and_the_originals_kept(arm):
    with pytest.warns(da.DalembertWarning) as said:
        s = da.load(arm)
    assert any("'elbow.joint' is elbow_joint" in str(w.message) for w in said)
    assert ["shoulder", "elbow_joint", "slider"] == [q.name for q in s.q]
    assert {"elbow_joint": "elbow.joint"} == s.origin.names
    assert ["shoulder", "elbow_joint (elbow.joint in its file)", "slider"] == [
        row[1] for row in symbol_table(s, FormulaWriter()).rows
    ]
    # rotations that are no right angles make fractions of a hundred digits; nobody reads those
    assert max(map(len, re.findall(r"[0-9.]+", str(da.kane(s).equations)))) < 20
    assert "upper-arm" in {b.name for b in s.bodies}


def test_clashing_and_reserved_names_stay_apart(tmp_path):
    links = [LINK.format(n, 1, 1) for n in "abcd"]
    joints = [
        JOINT.format("t", "continuous", "a", "b"),
        JOINT.format("x.1", "continuous", "b", "c"),
        JOINT.format("x_1", "continuous", "c", "d"),
    ]
    s = quiet(written(tmp_path, *links, *joints))
    assert ["t_1", "x_1", "x_1_2"] == [q.name for q in s.q]


def test_parameters_become_constants_on_request(arm):
    s = quiet(arm, symbols=["mass", "com", "inertia", "gravity"])
    assert 1 + 5 * (1 + 3 + 6) == sum(x.kind == "constant" for x in s.symbols.values())
    assert 2.0 == float(s.symbols["m_upper_arm"].value)
    state = {"shoulder": 0.3, "elbow_joint": -0.7, "slider": 0.2, "slider.dot": 1.0}
    symbolic, plain = da.state_values(s, state), da.state_values(quiet(arm), state)
    assert plain.M == pytest.approx(symbolic.M, rel=1e-12)
    assert plain.f == pytest.approx(symbolic.f, rel=1e-10)
    with pytest.raises(da.BadDescription, match="no kind of parameter"):
        quiet(arm, symbols=["weight"])


def test_joints_can_be_locked(arm):
    s = quiet(arm, locked={"slider": 0.2})
    assert 2 == len(s.q)
    assert da.crosscheck(s, states=3).agrees
    with pytest.raises(da.BadDescription, match="no joint 'knee'"):
        quiet(arm, locked=["knee"])


def test_a_free_root_by_quaternion_or_angles(arm):
    assert 3 + 7 == len(quiet(arm, base="free").q)
    s = quiet(arm, base="free", attitude="angles")
    assert ["base_x", "base_y", "base_z", "base_yaw", "base_pitch", "base_roll"] == [
        q.name for q in s.q[:6]
    ]
    for options in ({"base": "loose"}, {"attitude": "matrix"}):
        with pytest.raises(da.BadDescription, match="give"):
            quiet(arm, **options)


def test_keyframes_are_start_values(walker):
    s = quiet(walker)
    assert {"initial", "crouch"} == set(s.origin.keyframes)
    key = s.origin.keyframes["crouch"]
    assert (0.3, -0.6, 0.1) == (key["hip"], key["knee"], key["root_x.dot"])
    run = da.simulate(s, 0.01, start=key)
    assert -0.6 == pytest.approx(run["knee"][0])


def test_every_command_runs_it_from_the_position_of_its_file(walker):
    s = quiet(walker)
    assert s.origin.keyframes["initial"] == run_options(str(walker), s)[1]["start"]


def test_a_run_starts_in_the_home_keyframe_and_is_drawn_on_a_ground(walker):
    from dalembert.interface.page.scene import build_scene, sample_frames

    walker.write_text(walker.read_text().replace('"crouch"', '"home"'))
    s = quiet(walker)
    start = run_options(str(walker), s)[1]["start"]
    assert s.origin.keyframes["home"] == start
    drawn = build_scene(sample_frames(da.simulate(s, 0.02, start=start, progress=False), 11))
    lowest = min(b.r[0, 2] for b in drawn.bodies)
    assert drawn.view.ground <= min(0.0, lowest)
    assert () == drawn.rails


def test_inputs_of_a_file_are_zero_unless_given(walker):
    s = quiet(walker)
    f = da.compile(s)
    q = [0, 0, 1, 1, 0, 0, 0, 0.3, 0, -0.6, 0, 1, 0, 0, 0]
    at_rest, driven = f(q, [0.0] * 13), f(q, [0.0] * 13, hip_motor=1.0)
    assert abs(at_rest - driven).max() > 1
    assert da.evaluate(s, "hip_motor") == 0


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [LINK.format("a", 1, 1), LINK.format("b", 1, 1), JOINT.format("j", "screw", "a", "b")],
            "unknown type",
        ),
        (
            [LINK.format("a", 1, 1), LINK.format("b", 1, 1), JOINT.format("j", "fixed", "a", "c")],
            "not in the file",
        ),
        (
            [
                LINK.format("a", 1, 1),
                LINK.format("b", 1, 1),
                JOINT.format("j", "fixed", "a", "b"),
                JOINT.format("k", "fixed", "b", "a"),
            ],
            "loop",
        ),
        ([LINK.format("a", 1, 1), LINK.format("a", 1, 1)], "same name"),
        ([LINK.format("a", -1, 1)], "negative"),
        ([LINK.format("a", "nan", 1)], "no finite number"),
        ([LINK.format("a", 1, 1)], "no joints that move"),
        ([], "cannot be read|no links"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path, parts, said):
    with pytest.raises(da.BadDescription, match=said):
        quiet(written(tmp_path, *parts))


def test_two_parents_are_a_loop(tmp_path):
    links = [LINK.format(n, 1, 1) for n in "abc"]
    joints = [JOINT.format("j", "fixed", "a", "c"), JOINT.format("k", "fixed", "b", "c")]
    with pytest.raises(da.BadDescription, match="two parents"):
        quiet(written(tmp_path, *links, *joints))


def test_an_inertia_that_no_body_has_is_taken_and_named(tmp_path):
    file = written(
        tmp_path,
        LINK.format("a", 1, 1),
        LINK.format("heavy", 1, 9),
        JOINT.format("j", "continuous", "a", "heavy"),
    )
    with pytest.warns(da.DalembertWarning, match="no real body has the mass and inertia of heavy"):
        s = da.load(file)
    assert 1 == len(s.q)


def test_a_mass_that_is_taken_as_it_is_runs_as_a_symbol_too(tmp_path):
    file = written(
        tmp_path,
        LINK.format("a", 1, 1),
        LINK.format("rotor", 0, 1),
        JOINT.format("j", "continuous", "a", "rotor"),
    )
    for named in ((), ("mass",)):
        assert (
            pytest.approx(1.0)
            == da.simulate(quiet(file, symbols=named), 1.0, start={"j.dot": 1.0}).q[-1, 0]
        )
    with pytest.raises(da.DalembertError, match="the mass of 'rotor' is -1"):
        da.simulate(quiet(file, symbols=("mass",)), 1.0, values={"m_rotor": -1})


def test_a_joint_that_moves_nothing_is_held_and_named(tmp_path):
    parts = [LINK.format("a", 1, 1), LINK.format("b", 1, 1), '<link name="eye"/>']
    file = written(
        tmp_path,
        *parts,
        JOINT.format("j", "continuous", "a", "b"),
        JOINT.format("blink", "continuous", "b", "eye"),
    )
    with pytest.warns(da.DalembertWarning, match="held at zero: blink"):
        s = da.load(file)
    assert ["j"] == [q.name for q in s.q]


def test_absent_meshes_do_not_matter_in_a_urdf(tmp_path):
    mesh = '<visual><geometry><mesh filename="package://x/y.dae"/></geometry></visual></link>'
    file = written(
        tmp_path,
        LINK.format("a", 1, 1),
        LINK.format("b", 1, 1).replace("</link>", mesh),
        JOINT.format("j", "continuous", "a", "b"),
    )
    assert 1 == len(quiet(file).q)


def test_absent_meshes_matter_in_mjcf_where_inertia_comes_from_them(tmp_path):
    text = """<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="b">
      <joint name="j"/>{}
    <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    file = tmp_path / "m.xml"
    file.write_text(text.format(""))
    with pytest.raises(da.BadDescription, match=r"m\.stl.*put the file"):
        quiet(file)
    file.write_text(text.format('<inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>'))
    assert 1 == len(quiet(file).q)


def test_links_show_the_primitives_of_the_file_or_bars_from_joint_to_joint(arm, walker):
    looks = {b.name: b.visuals for b in quiet(arm).bodies}
    (box,) = looks["fore arm"]
    assert ("box", (0.05, 0.05, 0.3)) == (box.kind, box.sizes)
    # the box stands at the origin of the link, its mass centre at (0, 0.1, 0.3)
    assert box.centre == pytest.approx([0, -0.1, -0.3])
    bar, ball = looks["upper-arm"]
    assert ["cylinder", "sphere"] == [bar.kind, ball.kind]
    # from the shoulder to the elbow
    assert 2 * bar.sizes[2] == pytest.approx(1.01**0.5)
    assert bar.rotation @ [0, 0, 1] == pytest.approx([0.1 / 1.01**0.5, 0, 1 / 1.01**0.5])
    kinds = [p.kind for b in quiet(walker).bodies if b.name == "thigh" for p in b.visuals]
    assert ["cylinder", "sphere", "sphere"] == kinds
