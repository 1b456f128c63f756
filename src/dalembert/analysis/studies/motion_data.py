"""q, u, u̇ and loads at common times, from tables of measured columns.
Keywords: numerical differentiation, zero-phase filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from dalembert.analysis.studies.fit_data import BadData, MeasuredColumn, read_tables
from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.numerics.symbol_values import finite_number

_ORDER: Final = 4
# periods of the cutoff frequency that a filter falsifies at either end
_EDGE: Final = 2.0
# steps that differ by more, relative, are no uniform sampling
_JITTER: Final = 1e-3


@dataclass(frozen=True, eq=False)
class MotionData:
    """Samples in rows: coordinates, speeds, their rates, and the loads along the speeds."""

    t: FloatArray
    q: FloatArray
    u: FloatArray
    udot: FloatArray
    loads: FloatArray


def coordinate_names(kin: Kinematics) -> tuple[str, ...]:
    """The coordinates whose rates are the speeds, in their order."""
    names = tuple(map(kin.name, kin.q))
    if kin.n_q != kin.n_u or tuple(map(kin.name, kin.u)) != tuple(f"{n}'" for n in names):
        msg = (
            f"identify: the speeds of {kin.system.name!r} are {', '.join(map(kin.name, kin.u))}, "
            f"not the rates of its coordinates; solve with da.regressor(s) yourself"
        )
        raise NotApplicable(msg)
    return names


def read_motion(kin: Kinematics, data: Any, cutoff: Any) -> MotionData:
    """All tables, one after the other."""
    names = coordinate_names(kin)
    parts = []
    for k, columns in enumerate(read_tables(data), 1):
        table = {c.name.replace("'", ".dot"): c for c in columns}
        where = f"table {k}: " if isinstance(data, list | tuple) else ""
        parts.append(_motion_of_table(names, table, cutoff, where))
    return MotionData(
        *(np.concatenate([getattr(p, x) for p in parts]) for x in ("t", "q", "u", "udot", "loads"))
    )


def _motion_of_table(
    names: Sequence[str], table: Mapping[str, MeasuredColumn], cutoff: Any, where: str
) -> MotionData:
    loads = [f"tau_{n}" for n in names]
    rates = [f"{n}.dot" for n in names]
    accelerations = [f"{n}.dot.dot" for n in names]
    measured = [n for n in (*rates, *accelerations) if n in table]
    wanted = [*names, *loads, *((*rates, *accelerations) if measured else ())]
    missing = next((x for x in wanted if x not in table), None)
    if missing is not None:
        guess = suggest_name(missing, list(table)) or f"columns are {', '.join(table)}"
        msg = f"data: {where}there is no column {missing!r}; {guess}"
        raise BadData(msg)
    strange = next((x for x in table if x not in wanted), None)
    if strange is not None:
        msg = (
            f"data: {where}column {strange!r} is no coordinate, rate, acceleration or load; "
            f"known are {', '.join(wanted)}"
        )
        raise BadData(msg)
    t, values = _common_samples([table[n] for n in wanted], where)
    n = len(names)
    q, tau = values[:, :n], values[:, n : 2 * n]
    if measured:
        return MotionData(t, q, values[:, 2 * n : 3 * n], values[:, 3 * n :], tau)
    k, (q, u, udot) = _differentiate(t, q, cutoff, where)
    return MotionData(t[k], q[k], u[k], udot[k], tau[k])


def _common_samples(columns: Sequence[MeasuredColumn], where: str) -> tuple[FloatArray, FloatArray]:
    """The times at which every column has a value."""
    t = reduce(np.intersect1d, [c.t for c in columns])
    if len(t) < 2:
        msg = f"data: {where}the columns have {len(t)} times in common; sample them together"
        raise BadData(msg)
    return t, np.column_stack([c.values[np.searchsorted(c.t, t)] for c in columns])


def _differentiate(
    t: FloatArray, q: FloatArray, cutoff: Any, where: str
) -> tuple[slice, tuple[FloatArray, FloatArray, FloatArray]]:
    """q, q̇, q̈ by a zero-phase low-pass filter and a spline, away from both ends."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    if cutoff is None:
        msg = (
            f"data: {where}there are positions alone; give cutoff=, in Hz, the frequency above "
            f"which they are noise, or columns of rates and accelerations, 'q.dot' and 'q.dot.dot'"
        )
        raise BadData(msg)
    f, step = finite_number("cutoff", cutoff), float(np.mean(np.diff(t)))
    if np.abs(np.diff(t) - step).max() > _JITTER * step:
        msg = (
            f"data: {where}times are not uniform, so positions cannot be filtered; interpolate "
            f"them, or give rates and accelerations"
        )
        raise BadData(msg)
    edge = round(_EDGE / (f * step)) if f > 0.0 else 0
    if not 0.0 < f < 0.5 / step or 2 * edge + 2 > len(t):
        msg = (
            f"cutoff = {f:g} Hz does not fit {len(t)} samples at {1 / step:g} Hz; it must be "
            f"below {0.5 / step:g}, with several periods in the record"
        )
        raise BadData(msg)
    sos = butter(_ORDER, f, fs=1 / step, output="sos")
    curve = CubicSpline(t, sosfiltfilt(sos, q, axis=0))
    return slice(edge, len(t) - edge), (curve(t), curve(t, 1), curve(t, 2))
