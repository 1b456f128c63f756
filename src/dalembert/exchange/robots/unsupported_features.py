"""What a file says and the equations do not: listed by name, never dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Any

import numpy as np

UnsupportedFeatures = dict[str, tuple[str, ...]]


def unsupported_in_urdf(spec: Any) -> UnsupportedFeatures:
    """Limits, dry friction, contact shapes and the compiler's changes of masses."""
    features: dict[str, list[str]] = {
        "joint limits": [
            j.name
            for j in spec.joints
            if int(j.limited) != 0 and float(j.range[0]) < float(j.range[1])
        ],
        "dry friction": [j.name for j in spec.joints if j.frictionloss > 0],
        "contacts": [
            b.name
            for b in spec.bodies
            if any(int(g.contype) or int(g.conaffinity) for g in b.geoms)
        ],
        "sensors": [s.name or "unnamed" for s in spec.sensors],
    }
    compiler = spec.compiler
    changes = (("boundmass", 0.0), ("boundinertia", 0.0), ("settotalmass", -1.0))
    features["changes of masses by the compiler"] = [
        name for name, off in changes if float(getattr(compiler, name)) > off and off <= 0
    ]
    return _drop_empty(features)


def unsupported_in_mjcf(m: Any) -> UnsupportedFeatures:
    """Everything of a compiled model that is not mapped."""
    return _drop_empty(
        {
            "contacts": _chosen_names(
                m, "body", np.bincount(m.geom_bodyid[_colliding_geoms(m)], minlength=m.nbody)
            ),
            **_unsupported_joints_and_tendons(m),
            "fluid forces": ("all bodies",) if m.opt.density > 0 or m.opt.viscosity > 0 else (),
            "gravity compensation": _chosen_names(m, "body", m.body_gravcomp),
            **_unsupported_actuators(m),
            "equalities of kinds that are not mapped": _chosen_names(m, "eq", m.eq_type > 3),
            "equalities that are not active": _chosen_names(m, "eq", ~m.eq_active0.astype(bool)),
            "adhesion": _chosen_names(
                m,
                "geom",
                np.reshape(m.geom_adhesion, (m.ngeom, -1)).any(axis=1) if m.ngeom else [],
            ),
            "flexes": names(m, "flex", m.nflex),
            "plugins": names(m, "plugin", m.nplugin),
            "sensors": names(m, "sensor", m.nsensor),
            "mocap bodies (held where they are)": _chosen_names(m, "body", m.body_mocapid >= 0),
        }
    )


def _unsupported_joints_and_tendons(m: Any) -> dict[str, Iterable[str]]:
    """Limits, dry friction, and springs and dampers that are not linear."""
    joints = names(m, "jnt", m.njnt)
    of_dofs = [joints[j] for j in m.dof_jntid]
    polynomial = np.any(m.tendon_stiffnesspoly, axis=1) | np.any(m.tendon_dampingpoly, axis=1)
    return {
        "joint limits": _chosen_names(m, "jnt", m.jnt_limited),
        "tendon limits": _chosen_names(m, "tendon", m.tendon_limited),
        "dry friction": (
            *compress(of_dofs, m.dof_frictionloss),
            *_chosen_names(m, "tendon", m.tendon_frictionloss),
        ),
        "polynomial springs and dampers": (
            *_chosen_names(m, "jnt", np.any(m.jnt_stiffnesspoly, axis=1)),
            *compress(of_dofs, np.any(m.dof_dampingpoly, axis=1)),
            *_chosen_names(m, "tendon", polynomial),
        ),
        "springs that yield": (
            *_chosen_names(m, "jnt", m.jnt_springyield),
            *_chosen_names(m, "tendon", m.tendon_springyield),
        ),
        "springs of ball and free joints": _chosen_names(
            m, "jnt", (m.jnt_stiffness != 0) & (m.jnt_type < 2)
        ),
        "wrapping tendons": _chosen_names(
            m, "tendon", [has_wrapping(m, k) for k in range(m.ntendon)]
        ),
        "tendon springs with slack": _chosen_names(m, "tendon", slack_tendons(m)),
    }


def _unsupported_actuators(m: Any) -> dict[str, Iterable[str]]:
    """Other kinds, and what the mapped kinds have beyond gain and bias."""
    mapped = np.array([is_supported_actuator(m, k) for k in range(m.nu)], dtype=bool)
    return {
        "actuators of kinds that are not mapped": _chosen_names(m, "actuator", ~mapped),
        "activation dynamics (the input is the activation)": _chosen_names(
            m, "actuator", mapped & (m.actuator_dyntype > 0)
        ),
        "armature, damping and delay of actuators": _chosen_names(
            m,
            "actuator",
            (m.actuator_armature != 0)
            | (m.actuator_damping != 0)
            | np.any(m.actuator_dampingpoly, axis=1)
            | (m.actuator_delay != 0),
        ),
        "ranges of controls and forces": _chosen_names(
            m, "actuator", m.actuator_ctrllimited | m.actuator_forcelimited | m.actuator_actlimited
        ),
    }


def _drop_empty(features: dict[str, Any]) -> UnsupportedFeatures:
    return {what: tuple(dict.fromkeys(names)) for what, names in features.items() if tuple(names)}


def _colliding_geoms(m: Any) -> Any:
    """Geoms that can collide, on bodies or on the ground, if two of them can."""
    can = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    return can if np.count_nonzero(can) > 1 else np.zeros_like(can)


def _chosen_names(m: Any, kind: str, chosen: Any) -> tuple[str, ...]:
    """The names of the chosen elements of a kind."""
    return tuple(compress(names(m, kind, len(chosen)), chosen))


def names(m: Any, kind: str, count: int) -> list[str]:
    """The names of all elements of a kind ("body", "jnt", "tendon", …); those without one are
    numbered.
    """
    places, text = getattr(m, f"name_{kind}adr"), bytes(m.names)
    return [
        text[a : text.index(b"\0", a)].decode() or f"{kind} {k}"
        for k, a in enumerate(places[:count])
    ]


def has_wrapping(m: Any, k: int) -> bool:
    """Whether a tendon winds around a sphere or a cylinder."""
    return any(int(w) > 3 for w in m.wrap_type[m.tendon_adr[k] : m.tendon_adr[k] + m.tendon_num[k]])


def slack_tendons(m: Any) -> Any:
    """Tendons whose spring has no force over a range of lengths."""
    rest = m.tendon_lengthspring
    return (m.tendon_stiffness != 0) & (rest[:, 0] != rest[:, 1])


def is_supported_actuator(m: Any, k: int) -> bool:
    """Whether an actuator is a motor, a position or velocity servo, or another with a gain and
    an affine bias.
    """
    along, joint = int(m.actuator_trntype[k]), int(m.actuator_trnid[k, 0])
    if (
        int(m.actuator_gaintype[k]) != 0
        or int(m.actuator_biastype[k]) > 1
        or int(m.actuator_dyntype[k]) > 3
    ):
        return False
    if along == 3:
        return not has_wrapping(m, joint)
    single = along in (0, 1) and int(m.jnt_type[joint]) >= 2
    turning = along == 0 and int(m.jnt_type[joint]) == 1 and not m.actuator_biasprm[k, 1]
    return single or turning


def warning_text(name: str, omitted: UnsupportedFeatures) -> str:
    """One sentence for all that is left out."""
    listed = "; ".join(f"{what} ({abbreviate(names)})" for what, names in omitted.items())
    return f"{name}: left out of the equations: {listed}"


def abbreviate(names: tuple[str, ...], most: int = 6) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
