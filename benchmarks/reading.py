"""How long the equations are to read, and what it costs to get them there: the books, dalembert,
SymPy.

    python benchmarks/reading.py          writes the table of docs/equations.md

An equation's size is the number of operations it takes to write it down: sums, products, quotients,
powers and functions, counted by one counter in the equations as they are printed.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term, factor_common
from dalembert.symbolic.algebra.printing import equation, readable_form
from dalembert.symbolic.algebra.printing.term_layout import Printer, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import SourceNotation
from dalembert.symbolic.algebra.tape import Tape

# seconds that SymPy gets for one system
LIMIT: Final = 300
PAGE: Final = Path(__file__).parents[1] / "docs" / "equations.md"
BEGIN, END = "<!-- table begins -->", "<!-- table ends -->"
NAMES: Final = (
    "mass-on-incline",
    "cart-and-bar",
    "knife-edge-rod",
    "rolling-disk",
    "vehicle",
    "hoist",
    "positioning-device",
    "double-pendulum",
    "spherical-pendulum",
    "lagrange-top",
)


# ---- sizes -----------------------------------------------------------------------------------


def size(written: str) -> int:
    """The operations of a formula in Python's notation."""
    nodes = list(ast.walk(ast.parse(written.replace("'", "_d"), mode="eval")))
    return sum(isinstance(node, ast.BinOp | ast.Call) for node in nodes)


def printed(tape: Tape, residual: int, unknowns: Sequence[int], rates: Sequence[int]) -> str:
    """An equation as it is printed, in Python's notation, without common factors."""
    form = readable_form(tape, residual)
    assert form is not None
    common, rest = factor_common(form)
    whole = RationalForm(
        tuple(Term(t.coefficient * common.coefficient, t.powers) for t in rest.numerator)
    )
    names = [[str(tape.nodes[i][1]) for i in symbols] for symbols in (unknowns, rates)]
    sides, ranking = equation(form, tape, *names)
    cleared = [equation(one, tape, *names)[0].residual for one in (rest, whole)]
    forms = (*cleared, form if len(form.denominator) == 1 else sides.residual)
    # with fractions or without, with constants before each term or before parentheses, whichever is
    # shorter
    printers = [Printer(symbol_namer(tape), ranking, group=group) for group in (False, True)]
    return min(
        (SourceNotation()(printer.form(one)) for printer in printers for one in forms), key=size
    )


def ours(name: str) -> tuple[list[int], float]:
    """Size of each equation, and CPU seconds from the description to the printed equations."""
    s = gallery.build(name)
    start = time.process_time()
    e = da.kane(s).equations
    written = [printed(e.tape, r, e.udot, e.u) for r in e.residuals]
    return [size(w) for w in written], time.process_time() - start


def books(name: str) -> list[int]:
    """Size of what the source prints, where it prints equations of motion."""
    return [size(p.residual) for p in gallery.entry(name).printed if len(p.combination) == 1]


# ---- SymPy -----------------------------------------------------------------------------------


def of_sympy(name: str, how: str) -> tuple[list[int], float] | None:
    """The same by SymPy in a process of its own; None where it does not end in time."""
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--sympy", name, how],
            check=True,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return None
    sizes, seconds = json.loads(done.stdout)
    return sizes, seconds


def run_sympy(name: str, how: str) -> None:
    """In the process of its own."""
    from peers.sympy_books import SHORTEN, SYSTEMS, written

    shorten: Callable[[Any], Any] = SHORTEN[how]
    start = time.process_time()
    found = [shorten(e) for e in SYSTEMS[name]()]
    seconds = time.process_time() - start
    sys.stdout.write(json.dumps([[size(w) for w in written(found)], seconds]))


# ---- the table -------------------------------------------------------------------------------


def table(names: Sequence[str] = NAMES) -> str:
    """All systems, and the totals."""
    # what is loaded once
    ours("simple-pendulum")
    lines = [
        (
            "| system | dalembert | CPU time | SymPy + simplify | CPU time | SymPy + trigsimp "
            "| CPU "
            "time |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    totals = [0.0, 0.0, 0.0]
    for name in names:
        rows = [ours(name), of_sympy(name, "simplify"), of_sympy(name, "trigsimp")]
        lines.append(
            f"| {name} | " + " | ".join(f"{_sizes(row)} | {_seconds(row)}" for row in rows) + " |"
        )
        totals = [
            total + (LIMIT if row is None else row[1])
            for total, row in zip(totals, rows, strict=True)
        ]
    first = totals[0]
    cells = [
        f" | {_time(first)}",
        *(f" | {_time(t)}, {t / first:.0f} times as long" for t in totals[1:]),
    ]
    lines.append("| total |" + " |".join(cells) + " |")
    return "\n".join(lines)


def _sizes(row: tuple[list[int], float] | None) -> str:
    return f"not in {LIMIT} s" if row is None else f"{sum(row[0])} ({', '.join(map(str, row[0]))})"


def _seconds(row: tuple[list[int], float] | None) -> str:
    return "" if row is None else _time(row[1])


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def main() -> None:
    """Measure, and put the table where it stands."""
    if sys.argv[1:2] == ["--sympy"]:
        run_sympy(*sys.argv[2:4])
        return
    made = table()
    sys.stdout.write(made + "\n")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
