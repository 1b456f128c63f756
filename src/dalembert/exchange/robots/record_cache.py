"""The record of a robot, cached with compiled code and keyed by the hash of every file that it was
read from.

MuJoCo is then not opened again for a file that it has read before. Only numbers and names are kept,
as JSON; what a user chooses (base, attitude, symbols, …) is applied to the record afterwards and
has no part in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import astuple
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dalembert.exchange.robots.robot_record import (
    Actuator,
    EqualityConstraint,
    Inertial,
    Keyframe,
    Robot,
    RobotBody,
    RobotJoint,
    RobotShape,
    Site,
    Tendon,
)
from dalembert.exchange.robots.xml_validation import CheckedFile
from dalembert.runtime.numerics.object_cache import ObjectCache

# the modules that decide what a record says: one written by another version is not found
_HASHED_MODULES: Final = (
    "kept_record",
    "record",
    "urdf",
    "mjcf",
    "omitted",
    "poses",
    "engine_import",
)


def load_cached(checked: CheckedFile, read: Callable[[CheckedFile], Robot]) -> Robot:
    """The record that was kept for these very files, else the one that is read now; files that
    changed meanwhile are not kept.
    """
    key = _cache_key(checked)
    if key is None:
        return read(checked)
    cache = ObjectCache.from_environment()
    cached = cache.read(key)
    if cached is not None:
        return _from_json(json.loads(cached))
    robot = read(checked)
    if _cache_key(checked) == key:
        cache.write(key, json.dumps(astuple(robot)).encode())
    return robot


def _cache_key(checked: CheckedFile) -> str | None:
    """A hash of the readers and of all files; None where these, or the version of MuJoCo, is
    unknown.
    """
    version = _mujoco_version()
    if checked.files is None or version is None:
        return None
    here = Path(__file__).parent
    digest = hashlib.sha256(f"robot {version} {checked.tag} {checked.path}".encode())
    for file in (*(here / f"{name}.py" for name in _HASHED_MODULES), *checked.files):
        # a file that is searched and absent may appear, and then be the one that counts
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "absent"
        digest.update(f"\n{file} {content}".encode())
    return digest.hexdigest()


def _mujoco_version() -> str | None:
    """By the name of its metadata: importing the package costs more than reading a robot."""
    spec = find_spec("mujoco")
    if spec is None or spec.origin is None:
        return None
    return next(
        (found.name for found in Path(spec.origin).parents[1].glob("mujoco-*.dist-info")), None
    )


def _from_json(kept: list[Any]) -> Robot:
    """The record from what JSON makes of it, tuples again."""
    name, bodies, gravity, equalities, tendons, actuators, keyframes, omitted = kept
    return Robot(
        name,
        tuple(_body(*_tuples(b)) for b in bodies),
        _tuples(gravity),
        tuple(EqualityConstraint(*_tuples(e)) for e in equalities),
        tuple(_tendon(*_tuples(x)) for x in tendons),
        tuple(Actuator(*_tuples(a)) for a in actuators),
        tuple(Keyframe(*_tuples(k)) for k in keyframes),
        {what: _tuples(names) for what, names in omitted.items()},
    )


def _body(
    name: str, parent: int, pos: Any, quat: Any, inertial: Any, joints: Any, shapes: Any, _: Any
) -> RobotBody:
    """A link; its surfaces are of its meshes, which no reader adds."""
    own = None if inertial is None else Inertial(*inertial)
    return RobotBody(
        name,
        parent,
        pos,
        quat,
        own,
        tuple(RobotJoint(*j) for j in joints),
        tuple(RobotShape(*s) for s in shapes),
    )


def _tendon(name: str, joints: Any, pieces: Any, *spring: Any) -> Tendon:
    return Tendon(
        name, joints, tuple((Site(*a), Site(*b), divisor) for a, b, divisor in pieces), *spring
    )


def _tuples(x: Any) -> Any:
    return tuple(_tuples(v) for v in x) if isinstance(x, list) else x
