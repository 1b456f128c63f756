"""Systems, states and what every format must give there: the rates by da.compile, everything
else by evaluating the tape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

import dalembert as da
from dalembert import gallery
from dalembert.exchange.exports.export_model import ExportRequest, exported_model
from dalembert.exchange.exports.exported_model import POSITION_STEP, SPEED_STEP
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import evaluate

# constrained, specified, flexible, quaternions, driven, nonlinear in the rates, redundant rows
# among them
SYSTEMS = (
    "andrews-squeezer",
    "appell-hamel",
    "bead-on-hoop",
    "bricard",
    "cart-and-bar",
    "double-pendulum",
    "flexible-pendulum",
    "four-bar",
    "free-body-quaternion",
    "lagrange-top",
    "moving-knife-edge",
    "n-four-bar",
    "rattleback",
    "rolling-disk",
    "slider-crank",
    "snakeboard",
    "spatial-chain",
    "spin-up-beam",
    "whipple-bicycle",
)
# of these also the slopes of the rates
LINEAR = ("cart-and-bar", "four-bar", "rolling-disk")
COUNT = 50
CLOSE = 1e-12


@dataclass(frozen=True)
class Case:
    """A model with states, times, inputs and constants, and the rates there."""

    name: str
    model: object
    t: np.ndarray
    x: np.ndarray
    w: np.ndarray
    p: dict[str, float]
    rates: np.ndarray
    found: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        return self.name.replace("-", "_")

    def expected(self, function, x=None):
        """All results of a function in one row for each state, from the tape."""
        if x is None and function not in self.found:
            self.found[function] = self._evaluated(function, self.x)
        return self.found[function] if x is None else self._evaluated(function, x)

    def _evaluated(self, function, x):
        m = self.model
        rows = []
        for t, state, w in zip(self.t, x, self.w, strict=True):
            numbers = dict(zip(m.varying_symbols, (*state, t, *w), strict=True)) | {
                v.node: self.p[v.name] for v in m.parameters
            }
            rows.append(
                evaluate(m.tape, m.named[function].nodes, numbers.__getitem__, FloatArithmetic())
            )
        return np.array(rows)

    def projected(self, x):
        """The states carried back onto the rows, by the rule that every format follows."""
        x, n_q = x.copy(), len(self.model.q)
        if POSITION_STEP in self.model.named:
            before = np.full(len(x), np.inf)
            going = np.ones(len(x), dtype=bool)
            for _ in range(12):
                step = self.expected(POSITION_STEP, x)
                going &= step[:, -1] < before / 2
                x[going, :n_q], before = step[going, :n_q], np.where(going, step[:, -1], before)
        for _ in range(self.model.speed_iterations if SPEED_STEP in self.model.named else 0):
            x[:, n_q:] = self.expected(SPEED_STEP, x)
        return x


@cache
def case(name: str) -> Case:
    """Fifty random states of a gallery system, none chosen, with constants up to a tenth off
    their values.
    """
    entry = gallery.entry(name)
    system = entry.build()
    outputs = [f"{system.q[0].name}.dot", f"{system.q[-1].name}.dot.dot"]
    m = exported_model(
        system,
        ExportRequest(
            values={}, inputs={}, start=entry.start, outputs=outputs, linear=name in LINEAR
        ),
    )
    rng = np.random.default_rng(sum(map(ord, name)))
    p = {v.name: v.value * rng.uniform(0.9, 1.1) for v in m.parameters}
    n, kin = COUNT, kinematics(system)
    t, w = rng.uniform(0.0, 1.0, n), rng.uniform(-1.0, 1.0, (n, len(m.inputs)))
    # near the start, where closed loops can be assembled
    q = np.array([v.value or 0.0 for v in m.q]) + rng.uniform(-0.2, 0.2, (n, len(m.q)))
    u = rng.uniform(-1.0, 1.0, (n, kin.n_u))
    udot = np.array(
        [_accelerations(system, m, *state, p) for state in zip(q, u, t, w, strict=True)]
    )
    qdot = np.array([_rates(system, m, *state, p) for state in zip(q, u, t, w, strict=True)])
    if len(m.u) == kin.n_u:
        return Case(name, m, t, np.hstack([q, u]), w, p, np.hstack([qdot, udot]))
    # all rates in the state: those that da.compile knows of can be compared
    x = np.hstack([q, qdot])
    rates = np.full((COUNT, len(m.states)), np.nan)
    rates[:, : len(m.q)] = qdot
    for k, i in enumerate(kin.u):
        rates[:, len(m.q) + [v.node for v in m.u].index(i)] = udot[:, k]
    return Case(name, m, t, x, w, p, rates)


def _motions(system, t):
    """{x: x(t), x_dot: …} of the motions that the description gives."""
    from dalembert.runtime.states.run_values import run_values

    chosen = run_values(kinematics(system), {}, {})
    return {
        chosen.kin.name(i): v for i, v in chosen.symbol_values_at(t).items() if i in chosen.bindings
    }


@cache
def _compiled(system):
    return da.compile(system)


def _accelerations(system, m, q, u, t, w, p):
    f = _compiled(system)
    values = {
        **p,
        **{m.tape.nodes[v.node][1]: x for v, x in zip(m.inputs, w, strict=True)},
        **_motions(system, t),
    }
    return f.batch(q[None], u[None], t, np.array([values[n] for n in f.parameter_names]))[0]


def _rates(system, m, q, u, t, w, p):
    kin = kinematics(system)
    numbers = dict(zip((*kin.q, *kin.u, system.t.i), (*q, *u, t), strict=True))
    numbers |= {v.node: x for v, x in zip(m.inputs, w, strict=True)} | {
        v.node: p[v.name] for v in m.parameters
    }
    tape = kin.tape
    numbers |= {tape.names[n]: x for n, x in _motions(system, t).items()}
    return evaluate(tape, kin.qdot_of_u, numbers.__getitem__, FloatArithmetic())


def off(found, expected):
    """The largest difference, relative to the size of the row it is in; what is not known is not
    compared.
    """
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    known = ~np.isnan(expected)
    assert known.any()
    size = np.nanmax(np.abs(expected), axis=1, keepdims=True)
    return float(
        np.max(np.where(known, np.abs(found - expected) / np.where(size > 0, size, 1.0), 0.0))
    )


def near_rows(one: Case) -> np.ndarray:
    """States on the rows, then moved off by a thousandth."""
    if "near" not in one.found:
        x = one.projected(one.x)
        one.found["near"] = x + 1e-3 * np.random.default_rng(5).uniform(-1.0, 1.0, x.shape)
    return one.found["near"]


def back_on_rows(one: Case) -> np.ndarray:
    """The states of `near_rows` carried back."""
    if "back" not in one.found:
        one.found["back"] = one.projected(near_rows(one))
    return one.found["back"]
