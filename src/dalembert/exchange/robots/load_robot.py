"""da.load("panda.urdf"), da.load("walker.xml"): a file becomes a System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from dalembert.errors import BadDescription, warn
from dalembert.exchange.robots.initial_state import state_from_engine
from dalembert.exchange.robots.record_cache import load_cached
from dalembert.exchange.robots.robot_builder import (
    ORIENTATIONS,
    BuildOptions,
    RobotBuilder,
    warn_renamed,
)
from dalembert.exchange.robots.robot_record import Actuator, Robot, RobotJoint, RobotSource
from dalembert.exchange.robots.springs_and_actuators import (
    add_actuators,
    add_equalities,
    add_joint_springs,
    add_tendons,
)
from dalembert.exchange.robots.unsupported_features import warning_text
from dalembert.exchange.robots.xml_validation import CheckedFile, checked_file
from dalembert.mechanics.model.system import System

_BASE: Final = RobotJoint("base", "free")


def load_robot(
    path: str | Path,
    *,
    base: Literal["fixed", "free"] | None = None,
    attitude: Literal["quaternion", "angles"] = "quaternion",
    symbols: Sequence[str] = (),
    locked: Mapping[str, float] | Sequence[str] = (),
    drives: Sequence[str] | Literal["all"] = (),
    root: str | Path | None = None,
    meshes: bool = False,
) -> System:
    """The robot in a URDF or MJCF file as a System.

    base       "fixed" (a URDF's default) holds the root link, "free" gives it six degrees of
               freedom
    attitude   free and ball joints by a "quaternion" or by three "angles" about z, y, x
    symbols    kinds of parameters that become named constants: mass, com, inertia, gravity,
               damping, stiffness, armature
    locked     joints to hold, by name with their values (or names alone, held at zero)
    drives     joints of a URDF that get an input, by name, or "all"; an MJCF file names its own
    root       the folder that the file and all files it names must lie in (by default that of the
               file)
    meshes     whether links are drawn by the meshes of the file (STL, OBJ, MSH inside `root`),
               coarser where they are very fine
    """
    checked = checked_file(path, root)
    file, tag = checked.path, checked.tag
    _check_options(base, attitude)
    robot = load_cached(checked, read_robot)
    if meshes:
        from dalembert.exchange.robots.meshes import with_meshes

        folder = file.parent if root is None else Path(root).expanduser().resolve()
        robot = with_meshes(robot, file, folder, urdf=tag == "robot")
    if base == "free":
        robot = _with_free_base(robot)
    robot = _with_motors(robot, drives)
    held = _locked_joints(robot, locked)
    builder = RobotBuilder(robot, BuildOptions(attitude, tuple(symbols), held))
    for add in (add_joint_springs, add_tendons, add_actuators, add_equalities):
        add(builder)
    if not builder.s.q:
        msg = f"{file.name}: it has no joints that move; a free body is loaded with base='free'"
        raise BadDescription(msg)
    if robot.unsupported:
        warn(warning_text(robot.name, robot.unsupported))
    warn_renamed(builder.names)
    builder.s.origin = _origin(file, builder, urdf=tag == "robot", free_base=base == "free")
    return builder.s


def _locked_joints(robot: Robot, locked: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """{joint: value} of the joints that are held, with those that move no mass."""
    held = dict(locked) if isinstance(locked, Mapping) else dict.fromkeys(locked, 0.0)
    idle = [n for n in massless_joints(robot) if n not in held]
    if idle:
        warn(
            f"{robot.name}: joints that move no mass have no equation of motion; held at zero: "
            f"{', '.join(idle)}"
        )
    return held | dict.fromkeys(idle, 0.0)


def read_robot(checked: CheckedFile) -> Robot:
    """The record of the robot in a checked file, by MuJoCo."""
    file, tag = checked.path, checked.tag
    if tag == "robot":
        from dalembert.exchange.robots.urdf import read_urdf

        return read_urdf(file)
    if tag in ("mujoco", "mujocoinclude"):
        from dalembert.exchange.robots.mjcf import read_mjcf

        return read_mjcf(file)
    msg = (
        f"{file.name}: its first element is <{tag}>; a URDF begins with <robot>, an MJCF file "
        f"with <mujoco>"
    )
    raise BadDescription(msg)


def _check_options(base: object, attitude: object) -> None:
    if base not in (None, "fixed", "free"):
        msg = f"base={base!r}: give 'fixed' or 'free'"
        raise BadDescription(msg)
    if attitude not in ORIENTATIONS:
        msg = f"attitude={attitude!r}: give {' or '.join(map(repr, ORIENTATIONS))}"
        raise BadDescription(msg)


def _with_free_base(robot: Robot) -> Robot:
    """Six degrees of freedom for the first link on the ground."""
    roots = [k for k, b in enumerate(robot.bodies) if b.parent == -1]
    first = robot.bodies[roots[0]]
    if any(j.kind == "free" for j in first.joints):
        return robot
    if len(roots) > 1 or first.joints:
        msg = (
            f"base='free': {first.name!r} is not the only body on the ground, or has joints "
            f"there; free joints belong in the file"
        )
        raise BadDescription(msg)
    return robot.with_joint(roots[0], _BASE)


def _with_motors(robot: Robot, drives: Sequence[str] | Literal["all"]) -> Robot:
    """A motor with gain and gear 1 on each of the named joints."""
    index = {j.name: k for k, j in enumerate(robot.joints) if j.kind in ("hinge", "slide")}
    wanted = list(index) if drives == "all" else list(drives)
    unknown = [n for n in wanted if n not in index]
    if unknown:
        msg = (
            f"drives: {robot.name!r} has no hinge or slider {unknown[0]!r}; there are "
            f"{', '.join(index)}"
        )
        raise BadDescription(msg)
    motors = tuple(
        Actuator(f"tau_{n}", "joint", index[n], (1.0, 0, 0, 0, 0, 0), 1.0) for n in wanted
    )
    return replace(robot, actuators=robot.actuators + motors)


def massless_joints(robot: Robot) -> list[str]:
    """Hinges and sliders that carry no mass, and are coupled to none that does."""
    heavy = [
        b.inertial is not None
        and (b.inertial.mass > 0 or any(any(row) for row in b.inertial.inertia))
        for b in robot.bodies
    ]
    for k in range(len(heavy) - 1, -1, -1):
        if heavy[k] and robot.bodies[k].parent >= 0:
            heavy[robot.bodies[k].parent] = True
    loaded = [heavy[k] or j.armature > 0 for k, b in enumerate(robot.bodies) for j in b.joints]
    pairs = [(e.first, e.second) for e in robot.equalities if e.kind == "joint" and e.second >= 0]
    for _ in pairs:
        for a, b in pairs:
            loaded[a] = loaded[b] = loaded[a] or loaded[b]
    return [
        j.name
        for j, carries in zip(robot.joints, loaded, strict=True)
        if not carries and j.kind in ("hinge", "slide")
    ]


# ---- what a cross-check and a run will ask for ---------------------------------------------------


def _origin(file: Path, b: RobotBuilder, *, urdf: bool, free_base: bool) -> RobotSource:
    coordinates = tuple(() if m is None else m.coordinates for m in b.joints)
    joints = [m for m in b.joints if m is not None]
    frames = (
        {k.name: state_from_engine(joints, k.qpos, k.qvel) for k in b.robot.keyframes}
        if not b.choices.locked
        else {}
    )
    return RobotSource(
        file,
        urdf,
        b.robot,
        free_base,
        coordinates,
        b.names.renamed(),
        dict(b.choices.locked),
        frames,
        {body.name: b.carriers[k] for k, body in enumerate(b.robot.bodies)},
    )
