"""Recorded tables in other languages: the arrays as constants, and the functions that read them.

table_interval(t, k) is the number of entries of array k that are ≤ t; table_lookup(i, k) is its
entry i, the first or the last one outside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.data_arrays import column_values
from dalembert.symbolic.algebra.expression_graph import Substitution

# numbers in a line
_PER_LINE: Final = 6
# a longer text compiles slowly
_MOST_NUMBERS: Final = 2_000_000


def number_tables(values: RunValues) -> tuple[RunValues, tuple[FloatArray, ...]]:
    """The values with the number of an array instead of its handle, and the arrays."""
    arrays: list[FloatArray] = []
    numbered: dict[int, int] = {}
    tape = values.kin.tape
    for each in values.table_inputs:
        if each.table.extrapolation == "refuse":
            msg = (
                f"export: {each.name} is a table, and other programs may evaluate it beyond its "
                "end; choose an extrapolation: da.table(…, extrapolation='hold'), 'continue' or "
                "'zero'"
            )
            raise NotApplicable(msg)
        for symbol, handle in each.handles.items():
            array = column_values(handle)
            assert array is not None
            numbered[symbol] = tape.const(len(arrays))
            arrays.append(array)
    if sum(map(len, arrays)) > _MOST_NUMBERS:
        msg = f"export: tables of more than {_MOST_NUMBERS} numbers; give fewer samples"
        raise NotApplicable(msg)
    insert = Substitution(tape, numbered)
    bindings = {x: insert(e) for x, e in values.bindings.items()}
    return replace(values, bindings=bindings), tuple(arrays)


def _rows(array: FloatArray, suffix: str = "", indent: str = "    ") -> str:
    numbers = [repr(x) + suffix for x in array.tolist()]
    lines = (", ".join(numbers[k : k + _PER_LINE]) for k in range(0, len(numbers), _PER_LINE))
    return (",\n" + indent).join(lines)


def c_tables(arrays: tuple[FloatArray, ...], real: str) -> list[str]:
    """Static arrays and two static functions."""
    suffix = "f" if real == "float" else ""
    lines: list[str] = []
    for k, array in enumerate(arrays):
        lines += [f"static const real table_{k}[] = {{\n    {_rows(array, suffix)}}};"]
    lengths = ", ".join(str(len(array)) for array in arrays)
    names = ", ".join(f"table_{k}" for k in range(len(arrays)))
    lines += [
        f"static const real *const table_data[] = {{{names}}};",
        f"static const long table_length[] = {{{lengths}}};",
    ]
    return [*lines, _C_FUNCTIONS]


_C_FUNCTIONS: Final = """\

/* the number of entries of table k that are <= t, by bisection */
static real table_interval(real t, real k)
{
    const real *a = table_data[(int)k];
    long low = -1, high = table_length[(int)k];
    while (high - low > 1) {
        const long middle = low + (high - low)/2;
        if (a[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return (real)high;
}

/* entry i of table k, the first or the last one outside */
static real table_lookup(real i, real k)
{
    const long last = table_length[(int)k] - 1;
    const long j = i < 0 ? 0 : i > last ? last : (long)i;
    return table_data[(int)k][j];
}
"""


def javascript_tables(arrays: tuple[FloatArray, ...]) -> list[str]:
    """The same in JavaScript."""
    data = ",\n  ".join(f"Float64Array.of({_rows(array)})" for array in arrays)
    return [f"const TABLES = [\n  {data}];", _JAVASCRIPT_FUNCTIONS]


_JAVASCRIPT_FUNCTIONS: Final = """\
/* the number of entries of table k that are <= t */
function table_interval(t, k) {
  const a = TABLES[k];
  let low = -1, high = a.length;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low)/2);
    if (a[middle] <= t) low = middle; else high = middle;
  }
  return high;
}
/* entry i of table k */
function table_lookup(i, k) {
  return TABLES[k][Math.max(0, Math.min(TABLES[k].length - 1, i))];
}"""


def python_tables(arrays: tuple[FloatArray, ...], alias: str) -> list[str]:
    """The same for NumPy and JAX."""
    data = ",\n    ".join(f"{alias}.array([{_rows(array, indent='        ')}])" for array in arrays)
    return [
        f"TABLES = (\n    {data},\n)",
        "",
        "",
        "def table_interval(t, k):",
        '    """The number of entries of table k that are <= t."""',
        f'    return {alias}.searchsorted(TABLES[int(k)], t, side="right")',
        "",
        "",
        "def table_lookup(i, k):",
        '    """Entry i of table k, the first or the last one outside."""',
        "    a = TABLES[int(k)]",
        f"    return a[{alias}.clip({alias}.asarray(i), 0, len(a) - 1).astype(int)]",
    ]


def matlab_tables(arrays: tuple[FloatArray, ...]) -> list[str]:
    """The same for MATLAB and Octave."""
    lines = ["function a = table_data(k)", "  switch k"]
    for k, array in enumerate(arrays):
        data = _rows(array, indent="      ").replace(",\n", ", ...\n")
        lines += [f"    case {k}", f"      a = [{data}];"]
    return [*lines, "  end", "end", _MATLAB_FUNCTIONS]


_MATLAB_FUNCTIONS: Final = """
function n = table_interval(t, k)
% the number of entries of table k that are <= t
  n = sum(table_data(k) <= t);
end

function x = table_lookup(i, k)
% entry i of table k, counted from 0, the first or the last one outside
  a = table_data(k);
  x = a(min(max(i, 0), numel(a) - 1) + 1);
end"""

# which formats can carry tables
FORMATS_WITH_TABLES: Final = ("c", "fmu", "numpy", "jax", "javascript", "matlab")


def check_format(name: str, arrays: tuple[FloatArray, ...]) -> None:
    """Refuse a format that has no tables."""
    if arrays and name not in FORMATS_WITH_TABLES:
        msg = (
            f"export: the format {name!r} carries no recorded tables; export to "
            f"{', '.join(FORMATS_WITH_TABLES)}, or leave the input free"
        )
        raise NotApplicable(msg)
