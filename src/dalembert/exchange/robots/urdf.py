"""URDF: MuJoCo parses the file, and the tree is taken as it stands, not compiled.
Keywords: mimic joint.

The compiler would refuse massless frames and zero inertias, which are ordinary in URDF, would give
a link that has collision shapes only the density of water, and would merge the root into the
ground. Nothing of that is wanted here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert.errors import BadDescription
from dalembert.exchange.robots.optional_engines import captured_warnings, mujoco
from dalembert.exchange.robots.robot_record import (
    JOINTS,
    EqualityConstraint,
    Inertial,
    Robot,
    RobotBody,
    RobotJoint,
    quaternion4,
    shape,
    symmetric_inertial,
    vector3,
)
from dalembert.exchange.robots.transforms import pose
from dalembert.exchange.robots.unsupported_features import unsupported_in_urdf

_WORDS: Final = {
    "invalid joint type": "a joint has an unknown type; URDF has revolute, continuous, prismatic, "
    "fixed, floating, planar, spherical",
    "multiple parents": "a link has two parents; a URDF is a tree, so a loop must be opened there "
    "and closed by s.close(...) after loading",
    "body not found": "every link is the child of another: the joints close a loop, and a URDF "
    "is a tree",
    "parent or child missing": "a joint names a parent or child link that is not in the file",
    "repeated URDF name": "two links or joints have the same name",
}


def read_spec(file: Path) -> tuple[Any, list[str]]:
    """The parsed file, and what MuJoCo remarks about it."""
    try:
        with captured_warnings() as messages:
            spec = mujoco().MjSpec.from_file(str(file))
    except ValueError as problem:
        text = " ".join(str(problem).split())
        why = next((words for sign, words in _WORDS.items() if sign in text), None)
        msg = f"{file.name}: {why} ({text})" if why else f"{file.name} cannot be read: {text}"
        raise BadDescription(msg) from problem
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    return spec, messages


def remove_geoms(spec: Any) -> None:
    """Remove geoms and all that needs files from a spec, so that it compiles without them."""
    for group in (spec.geoms, spec.meshes, spec.textures, spec.materials, spec.hfields, spec.skins):
        for element in list(group):
            spec.delete(element)


def read_urdf(file: Path) -> Robot:
    """The robot in a URDF file."""
    spec, messages = read_spec(file)
    bodies = list(spec.bodies)[1:]
    if not bodies:
        msg = f"{file.name}: it has no links"
        raise BadDescription(msg)
    index = {b.name: k for k, b in enumerate(bodies)}
    index["world"] = -1
    links = tuple(_body(b, index[b.parent.name]) for b in bodies)
    names = [j.name for b in links for j in b.joints]
    return Robot(
        spec.modelname or file.stem,
        links,
        vector3(spec.option.gravity),
        equalities=tuple(_mimic_equality(e, names) for e in spec.equalities),
        unsupported=unsupported_in_urdf(spec)
        | ({"what MuJoCo remarks": tuple(messages)} if messages else {}),
    )


def _body(b: Any, parent: int) -> RobotBody:
    joints = tuple(_joint(j) for j in b.joints)
    shapes = tuple(
        s for g in b.geoms if (s := shape(int(g.type), g.size, g.pos, g.quat)) is not None
    )
    return RobotBody(
        b.name, parent, vector3(b.pos), quaternion4(b.quat), _inertial(b), joints, shapes
    )


def _inertial(b: Any) -> Inertial | None:
    """As the file gives it; a link without <inertial> has no mass."""
    if not b.explicitinertial:
        return None
    m = float(b.mass)
    xx, yy, zz, xy, xz, yz = map(
        float, (*b.inertia, 0, 0, 0) if np.isnan(b.fullinertia[0]) else b.fullinertia
    )
    if not (m >= 0 and np.all(np.isfinite([m, xx, yy, zz, xy, xz, yz, *b.ipos]))):
        msg = (
            f"link {b.name!r}: its mass, mass centre or inertia is no finite number, or its "
            f"mass "
            f"({m:g}) is negative"
        )
        raise BadDescription(msg)
    R = pose((0, 0, 0), quaternion4(b.iquat)).R
    return symmetric_inertial(
        m, b.ipos, R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    )


def _joint(j: Any) -> RobotJoint:
    kind, axis = JOINTS[int(j.type)], vector3(j.axis)
    if kind in ("slide", "hinge") and not any(axis):
        msg = f"joint {j.name!r}: its axis is 0 0 0, which is no direction"
        raise BadDescription(msg)
    return RobotJoint(j.name, kind, vector3(j.pos), axis, damping=float(j.damping[0]))


def _mimic_equality(e: Any, names: list[str]) -> EqualityConstraint:
    """q₁ = offset + multiplier · q₂"""
    first, second = names.index(e.name1), names.index(e.name2)
    return EqualityConstraint(
        f"mimic of {e.name1}", "joint", first, second, tuple(float(v) for v in e.data[:5])
    )
