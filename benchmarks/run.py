"""`make bench`: dalembert and its peers in one run; the tables go to the terminal and to results.md
beside this file.

    python benchmarks/run.py [--quick] [--only GROUP] [--output FILE] [--minutes LIMIT]
    GROUP is derive, compile, evaluate, simulate, stiff, constrained, export, live, many, growth,
    contacts, friction, derivatives, optimal, processes, laws, periodic, sensitivities,
    large or memory

A run of everything writes results.md; a quick or partial one only prints, unless --output names a
file. The exit code is 1 if tools disagree where they must not, never because of a time.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

GROUPS = {
    "derive": "derive",
    "compile": "compilation",
    "evaluate": "evaluate",
    "simulate": "simulate",
    "export": "exports",
}
GROUPS |= {
    "stiff": "stiff",
    "constrained": "constrained",
    "live": "live",
    "many": "ensemble",
    "growth": "growth",
}
GROUPS |= {"contacts": "contact_runs"}
GROUPS |= {"friction": "switches", "derivatives": "derivatives", "optimal": "optimal"}
GROUPS |= {"processes": "processes", "laws": "python_laws"}
GROUPS |= {"periodic": "periodic_motions", "sensitivities": "sensitivities", "large": "large"}
GROUPS |= {"memory": "memory"}
_RESULTS = Path(__file__).with_name("results.md")


def main() -> int:
    """Measure what is asked for, print it and keep it."""
    wanted = _arguments()
    # before anything loads a threaded library
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # an installed package has its bytecode: whole processes are measured with it
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    warnings.simplefilter("ignore")
    report = importlib.import_module("results").Report()
    # a cache of this run's own: what the user's cache holds, or how much, must not change a time
    with tempfile.TemporaryDirectory() as cache:
        os.environ["DALEMBERT_CACHE"] = cache
        for group in wanted.only or GROUPS:
            _measure(group, report, wanted)
    document = report.document()
    print(document)
    output = wanted.output or (None if wanted.quick or wanted.only else _RESULTS)
    if output is not None:
        output.write_text(document, encoding="utf-8")
    return 0 if all(passed for _, _, passed in report.checks) else 1


def _measure(group: str, report: Any, wanted: argparse.Namespace) -> None:
    """One group; a group that fails is a failed check, one without time left is named."""
    if time.perf_counter() - report.begin > 60 * wanted.minutes:
        report.section(group.capitalize(), f"Not measured: {wanted.minutes:g} minutes were over.")
        report.progress("not measured, the time is over")
        return
    try:
        importlib.import_module(GROUPS[group]).run(report, quick=wanted.quick)
    except Exception as error:  # noqa: BLE001 - the other groups are measured all the same
        traceback.print_exc()
        report.check(f"{group} was measured to its end", repr(error), passed=False)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure dalembert against other tools.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="smaller systems, and nothing that takes SymPy many seconds",
    )
    parser.add_argument(
        "--only",
        choices=GROUPS,
        action="append",
        help="this group alone; may be given several times",
    )
    parser.add_argument(
        "--minutes", type=float, default=40.0, help="no group starts after this time (40)"
    )
    parser.add_argument("--output", type=Path, help="the file to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
