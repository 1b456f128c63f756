"""Ω → t/2, b → 0: what is known of specified motions, inputs and constants before a verdict."""

from __future__ import annotations

from dalembert.algebra.folds import transplant
from dalembert.algebra.scalar import Scalar
from dalembert.equations.explicit import jets
from dalembert.integrals.energies import Energies
from dalembert.states.values import Values


def known(E: Energies, setting: Values) -> dict[int, int]:
    """Motions by their expressions, with all rates on E's tape; constants that are zero by zero.

    The other constants stay symbols, so a verdict holds whatever their values are.
    """
    base = [s.scalar.i for s in E.kin.system.symbols.values() if s.kind in ("specified", "input")]
    bound = [x for x in base if x in setting.bindings]
    nodes = transplant(setting.kin.tape, E.t, [setting.bindings[x] for x in bound])
    # these make every rate of a motion that any of the energies and powers needs
    _ = E.sigma, E.sigma_R, E.P_in, E.P_in_of_vectors, E.P_nonconservative, E.V_of_time
    found = {i: E.t.zero for i, x in setting.numbers.items() if x == 0.0}
    return found | jets(E.t, {x: Scalar(E.t, i) for x, i in zip(bound, nodes, strict=True)})
