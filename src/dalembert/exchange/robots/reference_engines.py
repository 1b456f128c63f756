"""MuJoCo and Pinocchio at a state: M, bias, rows and energies, in MuJoCo's velocities.

M v̇ + h = Jᵀλ, J v̇ + γ = 0: contacts, limits, friction and whatever was left out of the equations
are switched off, and the soft equalities of MuJoCo are taken as rows that hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from xml.parsers import expat

import numpy as np

from dalembert.exchange.robots.optional_engines import captured_warnings, mujoco
from dalembert.exchange.robots.robot_record import POSITIONS, VELOCITIES, RobotSource
from dalembert.exchange.robots.transforms import Numbers, rotation
from dalembert.exchange.robots.unsupported_features import (
    has_wrapping,
    is_supported_actuator,
    slack_tendons,
)
from dalembert.exchange.robots.urdf import read_spec, remove_geoms
from dalembert.foundation.deferred_dataclass import dataclass

# step of the differences that give J̇ v, of fourth order
_STEP: Final = 1e-3
# arrays of a compiled model that hold what the equations do not have
_DISABLED_FLAGS: Final = (
    "dof_frictionloss", "tendon_frictionloss", "jnt_stiffnesspoly", "dof_dampingpoly",
    "tendon_stiffnesspoly", "tendon_dampingpoly",
    "body_gravcomp", "jnt_actgravcomp", "jnt_springyield", "tendon_springyield", "tendon_armature",
    "actuator_armature", "actuator_damping",
    "actuator_dampingpoly", "actuator_ctrllimited", "actuator_forcelimited", "actuator_actlimited",
    "jnt_actfrclimited",
    "tendon_actfrclimited",
)  # fmt: skip


@dataclass(frozen=True)
class EngineState:
    """M v̇ + h = Jᵀλ, J v̇ + γ = 0, and the energies."""

    M: Numbers
    h: Numbers
    J: Numbers
    gamma: Numbers
    kinetic: float
    potential: float
    # by how much the position violates the engine's own constraint equations
    violation: float = 0.0

    def accelerations(self, free: Sequence[int]) -> Numbers:
        """v̇ of the joints that are not locked, by the saddle system; dependent rows do no harm."""
        M, h, J = self.M[np.ix_(free, free)], self.h[list(free)], self.J[:, list(free)]
        a = np.linalg.solve(M, -h)
        if not len(J):
            return np.asarray(a)
        K = J @ np.linalg.solve(M, J.T)
        lam = np.linalg.lstsq(K, -self.gamma - J @ a, rcond=1e-11)[0]
        return np.asarray(a + np.linalg.solve(M, J.T @ lam))


class Engine(Protocol):
    """Another program that knows the same file."""

    name: str

    def at(self, qpos: Numbers, qvel: Numbers, control: Numbers) -> EngineState:
        """Its matrices at a state."""
        ...


class MuJoCo:
    """MuJoCo's own model of the file, with everything off that the equations do not have."""

    name = "MuJoCo"

    def __init__(self, origin: RobotSource) -> None:
        self.mj, self.origin = mujoco(), origin
        self.m = _urdf_model(origin) if origin.path_is_urdf else _mjcf_model(origin)
        m = self.m
        flags = self.mj.mjtDisableBit
        off = (
            flags.mjDSBL_CONTACT,
            flags.mjDSBL_LIMIT,
            flags.mjDSBL_FRICTIONLOSS,
            flags.mjDSBL_CLAMPCTRL,
            flags.mjDSBL_REFSAFE,
        )
        for flag in off:
            m.opt.disableflags |= int(flag)
        m.opt.enableflags |= int(self.mj.mjtEnableBit.mjENBL_ENERGY)
        m.opt.jacobian = int(self.mj.mjtJacobian.mjJAC_DENSE)
        self.d = self.mj.MjData(m)

    def at(self, qpos: Numbers, qvel: Numbers, control: Numbers) -> EngineState:
        """M, qfrc_bias − passive − actuator, the rows and the energies."""
        with captured_warnings():
            return self._evaluate(qpos, qvel, control)

    def _evaluate(self, qpos: Numbers, qvel: Numbers, control: Numbers) -> EngineState:
        mj, m, d = self.mj, self.m, self.d
        mj.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = qpos, qvel
        self._set_controls(control)
        mj.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mj.mj_fullM(m, d, M)
        h = d.qfrc_bias - d.qfrc_passive - d.qfrc_actuator - self._motors(control)
        J, violation = self._constraint_jacobian(), self._violation()
        gamma = self._jacobian_rate_term(qpos, qvel) if len(J) else np.zeros(0)
        T, V = float(qvel @ M @ qvel) / 2, float(d.energy[0])
        return EngineState(M, np.array(h), J, gamma, T, V, violation)

    def _motors(self, control: Numbers) -> Any:
        """The motors that a URDF was given when it was loaded."""
        return motor_loads(self.origin, control) if self.origin.path_is_urdf else 0.0

    def _set_controls(self, control: Numbers) -> None:
        """An input is the control, or the activation of an actuator that has one."""
        m, d = self.m, self.d
        kept = [k for k in range(m.nu) if is_supported_actuator(m, k)]
        for k, x in zip(kept, control, strict=False):
            if m.actuator_actnum[k]:
                d.act[m.actuator_actadr[k]] = x
            else:
                d.ctrl[k] = x

    def _equality_rows(self) -> list[int]:
        d, equal = self.d, int(self.mj.mjtConstraint.mjCNSTR_EQUALITY)
        return [i for i in range(d.nefc) if d.efc_type[i] == equal]

    def _constraint_jacobian(self) -> Numbers:
        d = self.d
        J = np.array(d.efc_J).reshape(-1, self.m.nv)[: d.nefc]
        return np.array(J[self._equality_rows()])

    def _violation(self) -> float:
        """max |φ| of the equalities at this position."""
        return max((abs(float(self.d.efc_pos[i])) for i in self._equality_rows()), default=0.0)

    def _jacobian_rate_term(self, qpos: Numbers, qvel: Numbers) -> Numbers:
        """J̇ v by differences along the motion."""
        mj, m, d = self.mj, self.m, self.d

        def J(step: float) -> Numbers:
            q = qpos.copy()
            mj.mj_integratePos(m, q, qvel, step)
            d.qpos[:] = q
            mj.mj_fwdPosition(m, d)
            return self._constraint_jacobian()

        rate = (8 * (J(_STEP) - J(-_STEP)) - (J(2 * _STEP) - J(-2 * _STEP))) / (12 * _STEP)
        return np.asarray(rate @ qvel)


def _urdf_model(origin: RobotSource) -> Any:
    """The compiled URDF without shapes, its root free where it was loaded so."""
    spec, _ = read_spec(origin.path)
    remove_geoms(spec)
    if origin.free_base:
        spec.bodies[1].add_freejoint(name="base")
    with captured_warnings():
        model = spec.compile()
    model.dof_frictionloss[:] = 0
    return model


def _mjcf_model(origin: RobotSource) -> Any:
    from dalembert.exchange.robots.mjcf import compile_mjcf

    m, _ = compile_mjcf(origin.path)
    _disable_unsupported(m)
    return m


def _disable_unsupported(m: Any) -> None:
    """Whatever is listed as left out."""
    m.opt.density = m.opt.viscosity = 0.0
    for name in _DISABLED_FLAGS:
        getattr(m, name)[:] = 0
    m.jnt_stiffness[m.jnt_type < 2] = 0
    for j in np.flatnonzero(m.jnt_type == 1):
        m.dof_armature[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 3] = 0
    m.tendon_stiffness[slack_tendons(m)] = 0
    for k in range(m.ntendon):
        if has_wrapping(m, k):
            m.tendon_stiffness[k] = m.tendon_damping[k] = 0
    for k in range(m.nu):
        if not is_supported_actuator(m, k):
            m.actuator_gainprm[k] = m.actuator_biasprm[k] = 0
    m.eq_active0[m.eq_type > 3] = 0


class Mimic(NamedTuple):
    """q_follower = multiplier q_leader + offset"""

    follower: str
    leader: str
    multiplier: float
    offset: float


def read_mimics(file: Path) -> list[Mimic]:
    """Every <mimic> of a URDF by the names in it; the file was validated when it was loaded."""
    mimics: list[Mimic] = []
    joint = ""

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        nonlocal joint
        if tag == "joint" and "name" in attributes:
            joint = attributes["name"]
        elif tag == "mimic":
            numbers = float(attributes.get("multiplier", 1)), float(attributes.get("offset", 0))
            mimics.append(Mimic(joint, attributes["joint"], *numbers))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start_element
    parser.Parse(file.read_bytes(), True)
    return mimics


class Pinocchio:
    """Pinocchio's model of a URDF: independent joints, with the mimic rows that it reads itself."""

    name = "Pinocchio"

    def __init__(self, origin: RobotSource, pin: Any) -> None:
        self.pin, self.origin = pin, origin
        args = (pin.JointModelFreeFlyer(),) if origin.free_base else ()
        self.model = pin.buildModelFromUrdf(str(origin.path), *args)
        self.data = self.model.createData()
        self.model.gravity.linear = np.array(origin.robot.gravity)
        self.joints = [self.model.joints[self._id(j.name)] for j in origin.robot.joints]
        self.mimics = self._mimics(args)
        self.root_offset = self._root_offset()

    def _root_offset(self) -> Any:
        """The pose of the first body relative to the free joint: MuJoCo merges a root link "world"
        with its world, so the free body is then the next link.
        """
        name = self.origin.robot.bodies[0].name
        if not (self.origin.free_base and self.model.existFrame(name)):
            return self.pin.SE3.Identity()
        frame = self.model.frames[self.model.getFrameId(name)]
        at_root = frame.parentJoint == self._id("base")
        return frame.placement if at_root else self.pin.SE3.Identity()

    def _mimics(self, args: tuple[Any, ...]) -> list[Mimic]:
        """Its own reading of <mimic>; the names in the file where it has none, as for a follower
        that comes before its leader.
        """
        try:
            model = self.pin.buildModelFromUrdf(str(self.origin.path), *args, mimic=True)
        except (ValueError, TypeError):
            mimics = read_mimics(self.origin.path)
            known = self.model.existJointName
            return [m for m in mimics if known(m.follower) and known(m.leader)]
        pairs = zip(model.mimicking_joints, model.mimicked_joints, strict=True)
        rows = [(model.names[j], model.names[k], model.joints[j].extract()) for j, k in pairs]
        return [Mimic(j, k, float(row.scaling), float(row.offset)) for j, k, row in rows]

    def _id(self, name: str) -> int:
        free = self.origin.free_base and name == "base"
        return int(self.model.getJointId("root_joint" if free else name))

    def at(self, qpos: Numbers, qvel: Numbers, control: Numbers) -> EngineState:
        """crba, nle and the mimic rows, in the order and the velocities of MuJoCo."""
        pin, model, data = self.pin, self.model, self.data
        q, B, Bdot_v = self._state(qpos, qvel)
        v = B @ qvel
        M = np.array(pin.crba(model, data, q))
        M = np.triu(M) + np.triu(M, 1).T
        h = np.array(pin.nle(model, data, q, v)) + M @ Bdot_v
        h += model.damping * v
        T = pin.computeKineticEnergy(model, data, q, v)
        V = pin.computePotentialEnergy(model, data, q)
        J, violation = self._mimic_rows(qpos, len(qvel))
        h = B.T @ h - motor_loads(self.origin, control)
        return EngineState(B.T @ M @ B, h, J, np.zeros(len(J)), float(T), float(V), violation)

    def _mimic_rows(self, qpos: Numbers, n_v: int) -> tuple[Numbers, float]:
        """J of the couplings, whose J̇ is zero, and by how much a position violates them."""
        joints = self.origin.robot.joints
        sizes = [(POSITIONS[j.kind], VELOCITIES[j.kind]) for j in joints]
        places = np.cumsum([(0, 0), *sizes], axis=0)
        at = {j.name: place for j, place in zip(joints, places[:-1], strict=True)}
        J, violation = np.zeros((len(self.mimics), n_v)), 0.0
        for k, row in enumerate(self.mimics):
            (x, v), (y, w) = at[row.follower], at[row.leader]
            J[k, v] += 1.0
            J[k, w] -= row.multiplier
            gap = qpos[x] - row.multiplier * qpos[y] - row.offset
            violation = max(violation, abs(float(gap)))
        return J, violation

    def _state(self, qpos: Numbers, qvel: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """q of Pinocchio, and v_pin = B v with Ḃ v: a free joint counts its velocity along its
        own axes.
        """
        q = np.array(self.pin.neutral(self.model))
        B, rate = np.zeros((self.model.nv, len(qvel))), np.zeros(self.model.nv)
        a = v = 0
        for spec, joint in zip(self.origin.robot.joints, self.joints, strict=True):
            x, k, i = qpos[a : a + POSITIONS[spec.kind]], joint.idx_v, joint.idx_q
            size = VELOCITIES[spec.kind]
            B[k : k + size, v : v + size] = np.eye(size)
            if spec.kind in ("hinge", "slide"):
                q[i : i + joint.nq] = [x[0]] if joint.nq == 1 else [np.cos(x[0]), np.sin(x[0])]
            else:
                e = x[-4:]
                q[i : i + joint.nq] = [*x[:-4], e[1], e[2], e[3], e[0]]
            if spec.kind == "free":
                R, w = rotation(tuple(x[-4:])), qvel[v + 3 : v + 6]
                B[k : k + 3, v : v + 3] = R.T
                rate[k : k + 3] = -np.cross(w, R.T @ qvel[v : v + 3])
                if spec.name == "base":
                    self._move_root(q[i : i + 7], B[k : k + 6], rate[k : k + 6])
            a, v = a + POSITIONS[spec.kind], v + size
        return q, B, rate

    def _move_root(self, q: Numbers, B: Numbers, rate: Numbers) -> None:
        """Position and velocity of the first body become those of the free joint, in place."""
        X = self.root_offset
        q[:] = self.pin.SE3ToXYZQUAT(self.pin.XYZQUATToSE3(q) * X.inverse())
        B[:], rate[:] = X.action @ B, X.action @ rate


def motor_loads(origin: RobotSource, control: Numbers) -> Numbers:
    """The loads of motors on joints, along MuJoCo's velocities."""
    at = np.cumsum([0, *(VELOCITIES[j.kind] for j in origin.robot.joints)])
    loads = np.zeros(at[-1])
    for actuator, x in zip(origin.robot.actuators, control, strict=True):
        loads[at[actuator.index]] += x
    return loads
