"""ż(z, u), u̇(z, u) by another route than the one that is linearized, for two-sided differences."""

import numpy as np

import dalembert as da
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import operating_values
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import copy_expressions, evaluate, gradient

T = 0.3


class Projected:
    """The vector field of a system in q and u by native dynamics' own route, with q brought back
    onto the rows.
    """

    def __init__(self, system, values=None, inputs=None, t=T):
        chosen = operating_values(system, values or {}, inputs or {})
        self.evaluator = Evaluator(chosen.kin, chosen.symbol_values_at(t), chosen.bindings)
        self.kin, self.tape, self.t = self.evaluator.kin, self.evaluator.tape, t
        explicit = da.forward_dynamics(system)
        nodes = copy_expressions(explicit.tape, self.tape, (*explicit.qdot, *explicit.udot))
        self.rates = [self.evaluator.in_state(i) for i in nodes]
        one = self.tape.one
        rows = (*self.kin.rows, *self.kin.redundant)
        self.phi = [
            self.evaluator.in_state(self.tape.sub(r.phi, one) if r.is_norm else r.phi)
            for r in rows
            if r.phi is not None
        ]
        self.slopes = [g for f in self.phi for g in gradient(self.tape, {f: one}, self.kin.q)]

    def numbers(self, nodes, q, u):
        state = {**self.evaluator.numbers, self.evaluator.time: self.t}
        state |= dict(zip((*self.kin.q, *self.kin.u), (*q, *u), strict=True))
        return np.array(evaluate(self.tape, nodes, lambda i: float(state[i]), FloatArithmetic()))

    def onto_rows(self, q, u, move):
        """q with the coordinates `move` changed so that φ = 0."""
        q = np.array(q, dtype=float)
        for _ in range(50 if self.phi else 0):
            J = self.numbers(self.slopes, q, u).reshape(len(self.phi), -1)[:, move]
            step = np.linalg.lstsq(J, self.numbers(self.phi, q, u), rcond=None)[0]
            q[move] -= step
            if np.abs(step).max() < 1e-15:
                break
        return q

    def differences(self, q, u, free, h=1e-5):
        """∂(ż, u̇)/∂(z, u) by two-sided differences."""
        n = len(q)
        depend = [k for k in range(n) if k not in free]

        def f(x):
            moved = np.array(q)
            moved[list(free)] = x[: len(free)]
            moved = self.onto_rows(moved, x[len(free) :], depend)
            rates = self.numbers(self.rates, moved, x[len(free) :])
            return np.concatenate([rates[list(free)], rates[n:]])

        x = np.concatenate([np.array(q)[list(free)], u])
        steps = h * np.maximum(1.0, np.abs(x))
        return f(x), np.column_stack(
            [
                (f(x + s * e) - f(x - s * e)) / (2 * s)
                for s, e in zip(steps, np.eye(len(x)), strict=True)
            ]
        )
