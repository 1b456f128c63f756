"""MJCF: MuJoCo compiles the file, so that defaults, includes and inertias from shapes and meshes
are resolved.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import BadDescription
from dalembert.exchange.robots.optional_engines import captured_warnings, mujoco
from dalembert.exchange.robots.robot_record import (
    JOINTS,
    Actuator,
    EqualityConstraint,
    Inertial,
    Keyframe,
    Robot,
    RobotBody,
    RobotJoint,
    Site,
    Tendon,
    quaternion4,
    shape,
    symmetric_inertial,
    vector3,
)
from dalembert.exchange.robots.transforms import quaternion, rotation
from dalembert.exchange.robots.unsupported_features import (
    has_wrapping,
    is_supported_actuator,
    names,
    slack_tendons,
    unsupported_in_mjcf,
)
from dalembert.exchange.robots.urdf import remove_geoms


def compile_mjcf(file: Path) -> tuple[Any, list[str]]:
    """The compiled model, and what MuJoCo remarks; where shapes are absent and no inertia comes
    from them, without shapes.
    """
    m = mujoco()
    # it takes a mesh that changed within a second for the one it has seen
    m.mj_clearCache(m.mj_getCache())
    try:
        with captured_warnings() as messages:
            try:
                model = m.MjSpec.from_file(str(file)).compile()
            except ValueError as problem:
                model = _compile_without_geoms(m.MjSpec.from_file(str(file)), problem)
    except ValueError as problem:
        text = " ".join(str(problem).split())
        remedy = "; put the file into the folder that is searched" if "opening file" in text else ""
        msg = f"{file.name} cannot be read: {text}{remedy}"
        raise BadDescription(msg) from problem
    return model, messages


def _compile_without_geoms(spec: Any, problem: ValueError) -> Any:
    """Absent meshes do not matter where every body that has one states its inertia."""
    from_shapes = [
        b.name
        for b in spec.bodies
        if any(int(g.type) == 7 for g in b.geoms) and not b.explicitinertial
    ]
    if "opening file" not in str(problem) or from_shapes or int(spec.compiler.inertiafromgeom) == 1:
        raise problem
    remove_geoms(spec)
    return spec.compile()


def read_mjcf(file: Path) -> Robot:
    """The robot in an MJCF file."""
    model, messages = compile_mjcf(file)
    robot = robot_from_model(model, file.stem)
    return (
        replace(robot, unsupported=robot.unsupported | {"what MuJoCo remarks": tuple(messages)})
        if messages
        else robot
    )


def robot_from_model(m: Any, stem: str) -> Robot:
    """A compiled model as a record."""
    bodies = names(m, "body", m.nbody)
    off = int(m.opt.disableflags)
    links = tuple(_body(m, k, bodies[k], off) for k in range(1, m.nbody))
    if not m.njnt:
        msg = f"{stem}: it has no joints, so nothing can move"
        raise BadDescription(msg)
    title = bytes(m.names).split(b"\0", 1)[0].decode()
    gravity = (0.0, 0.0, 0.0) if off & 128 else vector3(m.opt.gravity)
    equalities = (
        ()
        if off & 3
        else tuple(_equality(m, k) for k in range(m.neq) if m.eq_type[k] <= 3 and m.eq_active0[k])
    )
    actuators = (
        ()
        if off & 2048
        else tuple(_actuator(m, k) for k in range(m.nu) if is_supported_actuator(m, k))
    )
    tendons = tuple(_tendon(m, k, off) for k in range(m.ntendon))
    return Robot(
        title or stem,
        links,
        gravity,
        equalities,
        tendons,
        actuators,
        _keyframes(m),
        unsupported_in_mjcf(m),
    )


def _body(m: Any, k: int, name: str, off: int) -> RobotBody:
    first, count = int(m.body_jntadr[k]), int(m.body_jntnum[k])
    joints = tuple(_joint(m, j, off) for j in range(first, first + count))
    seen = (
        shape(int(m.geom_type[g]), m.geom_size[g], m.geom_pos[g], m.geom_quat[g])
        for g in range(m.ngeom)
        if m.geom_bodyid[g] == k
    )
    shapes = tuple(s for s in seen if s is not None)
    pos, quat = vector3(m.body_pos[k]), quaternion4(m.body_quat[k])
    return RobotBody(name, int(m.body_parentid[k]) - 1, pos, quat, _inertial(m, k), joints, shapes)


def _inertial(m: Any, k: int) -> Inertial | None:
    """The principal axes turned into those of the body."""
    if m.body_mass[k] <= 0:
        return None
    R = rotation(quaternion4(m.body_iquat[k]))
    return symmetric_inertial(m.body_mass[k], m.body_ipos[k], R @ np.diag(m.body_inertia[k]) @ R.T)


def _joint(m: Any, j: int, off: int) -> RobotJoint:
    kind = JOINTS[int(m.jnt_type[j])]
    q, v = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
    single = kind in ("slide", "hinge")
    return RobotJoint(
        names(m, "jnt", m.njnt)[j],
        kind,
        vector3(m.jnt_pos[j]),
        vector3(m.jnt_axis[j]),
        ref=float(m.qpos0[q]) if single else 0.0,
        springref=float(m.qpos_spring[q]) if single else 0.0,
        stiffness=float(m.jnt_stiffness[j]) if single and not off & 32 else 0.0,
        damping=0.0 if off & 64 else float(m.dof_damping[v]),
        armature=float(m.dof_armature[v]),
    )


def _equality(m: Any, k: int) -> EqualityConstraint:
    name = names(m, "eq", m.neq)[k]
    a, b, data = int(m.eq_obj1id[k]), int(m.eq_obj2id[k]), m.eq_data[k]
    if m.eq_type[k] >= 2:
        kind = "joint" if m.eq_type[k] == 2 else "tendon"
        zero = m.qpos0[m.jnt_qposadr] if kind == "joint" else m.tendon_length0
        reference = (float(zero[a]), float(zero[b]) if b >= 0 else 0.0)
        numbers = tuple(float(x) for x in data[:5])
        return EqualityConstraint(name, kind, a, b, numbers, reference)  # type: ignore[arg-type]
    if m.eq_objtype[k] == int(mujoco().mjtObj.mjOBJ_SITE):
        return _site_equality(m, name, int(m.eq_type[k]), a, b)
    if m.eq_type[k] == 0:
        return EqualityConstraint(
            name, "connect", a - 1, b - 1, anchors=(vector3(data[:3]), vector3(data[3:6]))
        )
    # weld: the anchor in the second body, the place and the attitude of the second body in the
    # first
    anchor, place, quat = np.array(data[:3]), np.array(data[3:6]), quaternion4(data[6:10])
    return EqualityConstraint(
        name, "weld", a - 1, b - 1, anchors=(vector3(place), vector3(anchor)), quat=quat
    )


def _site_equality(m: Any, name: str, kind: int, a: int, b: int) -> EqualityConstraint:
    """Two sites that coincide, or that coincide and keep equal axes."""
    bodies = int(m.site_bodyid[a]) - 1, int(m.site_bodyid[b]) - 1
    places = vector3(m.site_pos[a]), vector3(m.site_pos[b])
    if kind == 0:
        return EqualityConstraint(name, "connect", *bodies, anchors=places)
    R = rotation(quaternion4(m.site_quat[a])) @ rotation(quaternion4(m.site_quat[b])).T
    return EqualityConstraint(name, "weld", *bodies, anchors=places, quat=quaternion(R))


def _tendon(m: Any, k: int, off: int) -> Tendon:
    name = names(m, "tendon", m.ntendon)[k]
    adr, num = int(m.tendon_adr[k]), int(m.tendon_num[k])
    path = [
        (int(m.wrap_type[i]), int(m.wrap_objid[i]), float(m.wrap_prm[i]))
        for i in range(adr, adr + num)
    ]
    stiffness = 0.0 if off & 32 or slack_tendons(m)[k] else float(m.tendon_stiffness[k])
    damping = 0.0 if off & 64 else float(m.tendon_damping[k])
    rest = (float(m.tendon_lengthspring[k, 0]), float(m.tendon_lengthspring[k, 1]))
    if has_wrapping(m, k):
        return Tendon(name)
    joints = tuple((i, c) for kind, i, c in path if kind == 1)
    pieces, divisor, last = [], 1.0, -1
    for kind, i, c in path:
        if kind == 2:
            divisor, last = c, -1
        elif kind == 3:
            if last >= 0:
                pieces.append((_site(m, last), _site(m, i), divisor))
            last = i
    return Tendon(name, joints, tuple(pieces), stiffness, rest, damping)


def _site(m: Any, i: int) -> Site:
    return Site(int(m.site_bodyid[i]) - 1, vector3(m.site_pos[i]))


def _actuator(m: Any, k: int) -> Actuator:
    name = names(m, "actuator", m.nu)[k]
    bias = vector3(m.actuator_biasprm[k][:3]) if m.actuator_biastype[k] else (0.0, 0.0, 0.0)
    along = "tendon" if m.actuator_trntype[k] == 3 else "joint"
    gear = tuple(float(x) for x in m.actuator_gear[k])
    return Actuator(
        name,
        along,  # type: ignore[arg-type]
        int(m.actuator_trnid[k, 0]),
        gear,
        float(m.actuator_gainprm[k, 0]),
        bias,
    )


def _keyframes(m: Any) -> tuple[Keyframe, ...]:
    """The position the file is written in, then those that it names."""
    first = Keyframe("initial", tuple(map(float, m.qpos0)), (0.0,) * int(m.nv))
    rest = (
        Keyframe(n, tuple(map(float, m.key_qpos[k])), tuple(map(float, m.key_qvel[k])))
        for k, n in enumerate(names(m, "key", m.nkey))
    )
    return (first, *rest)
