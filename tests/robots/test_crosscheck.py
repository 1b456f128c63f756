"""The engines that read the same file agree, and where a model is wrong they say at which joint."""

from __future__ import annotations

import warnings

import pytest

import dalembert as da


def quiet(file, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return da.load(file, **options)


@pytest.mark.parametrize(
    "options", [{}, {"base": "free"}, {"base": "free", "attitude": "angles"}, {"drives": "all"}]
)
def test_urdf(arm, options):
    check = da.crosscheck(quiet(arm, **options), states=5)
    assert check.agrees, check
    assert {"MuJoCo", "Pinocchio"} == {c.engine for c in check.engines}


@pytest.mark.parametrize("attitude", ["quaternion", "angles"])
def test_mjcf_with_one_of_everything(walker, attitude):
    check = da.crosscheck(quiet(walker, attitude=attitude), states=5)
    assert check.agrees, check


def test_loops_and_couplings_by_the_saddle_system(loop):
    s = quiet(loop)
    # z of the planar loop vanishes identically
    assert 3 == len(s.constraints)
    check = da.crosscheck(s, states=5)
    assert check.agrees, check


def test_agreement_has_rows_for_the_engines(arm):
    result = da.agreement(quiet(arm))
    assert result.agree
    assert "MuJoCo: agrees" in str(result)


def test_a_wrong_model_is_told_by_its_joint(arm):
    s = quiet(arm)
    text = arm.read_text().replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="9"/>'
    )
    arm.write_text(text)
    check = da.crosscheck(s, states=3)
    assert not check.agrees
    assert "DIFFERS, most at slider" in str(check)


def test_a_system_described_by_hand_has_no_witness():
    s = da.System("Pendulum", gravity=9.81)
    s.rod("rod", s.pin("theta", s.O), mass=1, length=1)
    with pytest.raises(da.BadDescription, match="not read from a URDF or MJCF file"):
        da.crosscheck(s)


def test_a_joint_that_follows_another_has_no_coordinate_of_its_own(tmp_path):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = (
        f'<link name="{{}}"><inertial><origin xyz="0.1 0.2 0"/><mass '
        f'value="1"/>{inertia}</inertial></link>'
    )
    joint = (
        '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="1 0 '
        '0"/><axis xyz="0 1 1"/>{}</joint>'
    )
    mimic = '<mimic joint="{}" multiplier="{}" offset="0.3"/>'
    parts = [
        *(link.format(n) for n in "abcde"),
        joint.format("follower", "continuous", "a", "b", mimic.format("second", -2)),
        joint.format("leader", "continuous", "b", "c", ""),
        joint.format("second", "continuous", "c", "d", mimic.format("leader", 0.5)),
        joint.format(
            "third",
            "prismatic",
            "a",
            "e",
            mimic.format("leader", 3) + '<limit lower="0" upper="1" effort="1" velocity="1"/>',
        ),
    ]
    file = tmp_path / "mimic.urdf"
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    s = quiet(file)
    assert ["leader"] == [q.name for q in s.q]
    assert not s.constraints
    assert "link by link" == da.inverse_dynamics(s).route == da.forward_dynamics(s).route
    assert da.crosscheck(s, states=4).agrees
