"""<mimic> with a free root: the file names the coupled joints; a witness reads it itself."""

from __future__ import annotations

import pytest

import dalembert as da

# the limits of sliders, which equations of motion do not have
pytestmark = pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")

LINK = """<link name="{0}"><inertial><origin xyz="0.03 0.02 0.1"/><mass value="{1}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
  <origin xyz="0.1 0 0.2" rpy="0.3 0 0.1"/>
  <axis xyz="{4}"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{5}</joint>"""
MIMIC = '<mimic joint="{}" multiplier="{}" offset="{}"/>'

# leader before and after its follower, a chain of two, a slider, two followers of one leader
GRIPPERS = {
    "follower last": (
        ("a", "continuous", None),
        ("b", "continuous", None),
        ("c", "continuous", ("b", -1.5, 0.2)),
    ),
    "follower first": (
        ("a", "continuous", ("c", 0.5, 0)),
        ("b", "continuous", None),
        ("c", "continuous", None),
    ),
    "chain": (
        ("a", "continuous", None),
        ("b", "continuous", ("a", 2, 0)),
        ("c", "continuous", ("b", -0.5, 0.1)),
    ),
    "slider": (
        ("a", "prismatic", None),
        ("b", "continuous", None),
        ("c", "prismatic", ("a", -1, 0)),
    ),
    "two followers": (
        ("a", "continuous", None),
        ("b", "continuous", ("a", 1, 0)),
        ("c", "continuous", ("a", -1, 0.3)),
    ),
}


def written(folder, joints):
    """A URDF of a chain with these joints."""
    links = "".join(LINK.format(f"l{k}", 1 + 0.3 * k) for k in range(len(joints) + 1))
    axes = ("0 0 1", "0 1 0", "1 0 1")
    parts = [
        JOINT.format(
            name, kind, f"l{k}", f"l{k + 1}", axes[k], "" if mimic is None else MIMIC.format(*mimic)
        )
        for k, (name, kind, mimic) in enumerate(joints)
    ]
    file = folder / "gripper.urdf"
    file.write_text(f'<robot name="gripper">{links}{"".join(parts)}</robot>')
    return file


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", list(GRIPPERS))
def test_mimic_couples_the_joints_that_the_file_names(tmp_path, name, base):
    joints = GRIPPERS[name]
    s = da.load(written(tmp_path, joints), base=base)
    independent = [name for name, _, mimic in joints if mimic is None]
    assert set(independent) == {q.name for q in s.q if not q.name.startswith("base")}
    # MuJoCo and Pinocchio read <mimic> by themselves
    check = da.crosscheck(s, states=3)
    assert check.agrees, str(check)


def test_a_witness_sees_a_wrong_coupling(tmp_path, monkeypatch):
    pytest.importorskip("pinocchio")
    from dalembert.exchange.robots import urdf

    true = urdf._mimic_equality

    def shifted(e, names):
        row = true(e, names)
        return type(row)(row.name, row.kind, row.first, row.second - 1, row.polynomial)

    monkeypatch.setattr(urdf, "_mimic_equality", shifted)
    s = da.load(written(tmp_path, GRIPPERS["follower last"]))
    verdicts = {c.engine: c.agrees for c in da.crosscheck(s, states=3).engines}
    assert verdicts["MuJoCo"] is False
    assert verdicts["Pinocchio"] is False


def test_a_free_gripper_agrees_with_mujoco(tmp_path):
    s = da.load(written(tmp_path, GRIPPERS["slider"]), base="free")
    verdicts = {c.engine: c.agrees for c in da.crosscheck(s, states=3).engines}
    assert verdicts["MuJoCo"] is True


# ---- nearby: what else counts joints before the root is put in front -----------------------------


def test_drives_locks_and_damping_of_a_free_robot_are_those_of_the_named_joints(tmp_path):
    joints = (("a", "continuous", None), ("b", "continuous", None), ("c", "prismatic", None))
    s = da.load(written(tmp_path, joints), base="free", drives=["b"], locked={"c": 0.2})
    assert da.crosscheck(s, states=3).agrees


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_root_link_named_world_with_a_turned_first_link(tmp_path, base):
    """MuJoCo merges the link "world" with its world; Pinocchio's free joint moves that link."""
    file = tmp_path / "world.urdf"
    file.write_text(
        '<robot name="w"><link name="world"/>'
        + LINK.format("l0", 1.0)
        + LINK.format("l1", 2.0)
        + '<joint name="f" type="fixed"><parent link="world"/><child link="l0"/>'
        + '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 -1.57"/></joint>'
        + JOINT.format("a", "continuous", "l0", "l1", "0 1 0", "")
        + "</robot>"
    )
    check = da.crosscheck(da.load(file, base=base), states=3)
    assert check.agrees, str(check)
