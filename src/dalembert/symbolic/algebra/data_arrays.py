"""Arrays of numbers that expressions read: a handle in an expression, the data in memory.
Keywords: lookup table, content-addressed storage.

A tape holds no data. Its nodes `interval(t, h)` and `lookup(k, h)` name an array by a handle h, a
whole number that follows from the content of the array. Compiled code gets the handle as a
parameter and finds the array in a hash table, so that one piece of code serves all data. An array
that is no longer in memory gives NaN.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray

# a slot is (handle, address, length), each of eight bytes; the address of an array is never zero
SLOTS: Final = 1 << 15
_SLOT_TYPE: Final = np.dtype([("handle", "<f8"), ("address", "<u8"), ("length", "<i8")])
# so that the search for a handle stays short
_MAX_ARRAYS: Final = SLOTS // 2
# a double has every whole number up to 2⁵³
_HANDLE_BITS: Final = 52

_lock: Final = threading.Lock()
_slots: Final = np.zeros(SLOTS, dtype=_SLOT_TYPE)
_columns: Final[weakref.WeakValueDictionary[float, DataColumn]] = weakref.WeakValueDictionary()


class DataColumn:
    """An array and its handle; native code can read it as long as this object lives."""

    __slots__ = ("__weakref__", "handle", "values")

    def __init__(self, handle: float, values: FloatArray) -> None:
        self.handle, self.values = handle, values

    def __reduce__(self) -> tuple[Any, ...]:
        return data_column, (self.values,)

    def __deepcopy__(self, memo: object) -> DataColumn:
        return self


def data_column(values: FloatArray) -> DataColumn:
    """The array with its handle; equal arrays are held once."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    import hashlib

    digest = hashlib.sha256(array.tobytes() if array.nbytes < 64 else array.data).digest()
    handle = float(1 + (int.from_bytes(digest[:8], "little") >> (64 - _HANDLE_BITS)))
    with _lock:
        column = _columns.get(handle)
        if column is not None:
            return column
        array.flags.writeable = False
        column = DataColumn(handle, array)
        place = _free_slot(handle)
        _slots["length"][place] = len(array)
        _slots["address"][place] = array.ctypes.data
        _slots["handle"][place] = handle
        _columns[handle] = column
        weakref.finalize(column, _release, place, array.ctypes.data)
        return column


def _free_slot(handle: float) -> int:
    """Where an array goes: the slot of its handle, one that is free again, or an empty one."""
    if len(_columns) >= _MAX_ARRAYS:
        msg = f"more than {_MAX_ARRAYS} columns of tables are in use; drop some of them"
        raise NotApplicable(msg)
    place, free = int(handle) % SLOTS, -1
    while _slots["handle"][place]:
        if _slots["handle"][place] == handle:
            return place
        if free < 0 and not _slots["address"][place]:
            free = place
        place = (place + 1) % SLOTS
    return place if free < 0 else free


def _release(place: int, address: int) -> None:
    """The slot stays a link in the chain of slots that a search follows."""
    if _slots["address"][place] == address:
        _slots["address"][place] = 0


def slots_address() -> int:
    """Where native code finds the hash table."""
    return int(_slots.ctypes.data)


def column_values(handle: float) -> FloatArray | None:
    """The array of a handle; None if it is not in memory."""
    column = _columns.get(handle)
    return None if column is None else column.values


def interval(t: Any, handle: Any) -> Any:
    """The number of entries of a sorted array that are ≤ t, as a float."""
    knots = column_values(float(np.ravel(handle)[0]))
    if knots is None:
        return np.full(np.shape(t), np.nan)[()]
    count = np.searchsorted(knots, np.real(t), side="right").astype(np.float64)
    return np.where(np.isnan(np.real(t)), np.nan, count)[()]


def lookup(k: Any, handle: Any) -> Any:
    """Entry k of an array; its first or last entry outside."""
    values = column_values(float(np.ravel(handle)[0]))
    if values is None:
        return np.full(np.shape(k), np.nan)[()]
    known = ~np.isnan(np.real(k))
    at = np.clip(np.where(known, np.real(k), 0.0).astype(np.int64), 0, len(values) - 1)
    return np.where(known, values[at], np.nan)[()]
