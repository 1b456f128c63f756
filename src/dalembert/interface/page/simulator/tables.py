"""Recorded tables of a page: their arrays as text, by the names of their handles."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.runtime.states.tables import TableInput
from dalembert.symbolic.algebra.data_arrays import column_values

# a page with more is slow to open
_MOST_BYTES: Final = 16 * 2**20


def table_data(inputs: Sequence[TableInput]) -> dict[str, str]:
    """{name of a handle: its array, little-endian doubles in base64}"""
    data: dict[str, str] = {}
    for each in inputs:
        for name, handle in zip(each.handle_names, each.handles.values(), strict=True):
            array = column_values(handle)
            assert array is not None
            data[name] = base64.b64encode(array.astype(np.dtype("<f8")).tobytes()).decode("ascii")
    if sum(map(len, data.values())) > _MOST_BYTES:
        longest = max(inputs, key=lambda each: len(each.table.t))
        msg = (
            f"the table of {longest.name} has {len(longest.table.t)} samples, more than a page "
            f"can carry"
        )
        raise NotApplicable(msg)
    return data


def knots_name(each: TableInput) -> str:
    """The name of the handle of the knots, which stands first."""
    return each.handle_names[0]


def table_span(each: TableInput) -> dict[str, str | float]:
    """The times that a run must stay between; nothing where the table says what lies outside."""
    t, kind = each.table.t, each.table.kind
    if each.table.extrapolation != "refuse":
        return {}
    last = 1e300 if kind == "held" else float(t[-1])
    return {"name": each.name, "from": float(t[0]), "to": last}
