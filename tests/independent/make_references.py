"""Reference answers of random systems, computed from clouds of particles in 60 digits and written
as JSON.

    python tests/independent/make_references.py                       the 200 systems of
    data/references.json python tests/independent/make_references.py 0 2000 -o many.json   any
    others; `REFERENCES=many.json pytest tests/independent`
                                                                      compares these instead

Needs mpmath and numpy only: nothing of dalembert is imported. A draw that makes no good example (a
loop that does not close, a state next to a singular one) is drawn again, and the number of the
attempt is kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from independent.balance import is_carried, is_placed, joint_wrenches, row_totals
from independent.description import Description
from independent.generator import drawn
from independent.reference import Solution, independent_rates, solve
from independent.state import Rejected

DATA = Path(__file__).parent / "data" / "references.json"
COUNT = 200
_MOST_ATTEMPTS = 200


def digest(d: Description) -> str:
    """Tells one description from another."""
    return hashlib.sha256(repr(d).encode()).hexdigest()[:16]


def solved(seed: int) -> tuple[int, Solution]:
    """The first attempt of a seed that makes a good example."""
    for attempt in range(_MOST_ATTEMPTS):
        try:
            return attempt, solve(drawn(seed, attempt))
        except Rejected:
            continue
    msg = f"seed {seed}: no good example in {_MOST_ATTEMPTS} attempts"
    raise RuntimeError(msg)


def reference(seed: int) -> dict[str, Any]:
    """Everything that is compared, as numbers of 16 digits."""
    attempt, s = solved(seed)
    names = s.d.coordinates
    closing = {row.name for row in s.d.rows if row.kind == "close"}
    rows = zip(s.rows, s.multipliers, s.A, strict=True)
    found = {
        "seed": seed,
        "attempt": attempt,
        "digest": digest(s.d),
        "family": s.d.family,
        "q": [s.motion.q[x] for x in names],
        "rates": [s.motion.rates[x] for x in names],
        "given": independent_rates(s),
        "accelerations": [s.qdd[x] for x in names],
        "energies": [s.T, s.V],
        # the rows of closing joints may be written in other ways
        "multipliers": {
            r.name: lam
            for r, lam, a in rows
            if not r.is_norm and r.label not in closing and any(abs(x) > 1e-15 for x in a)
        },
        "drives": s.drives,
        "joints": joint_wrenches(s) if is_placed(s) else None,
        "rows": row_totals(s) if is_placed(s) else None,
        "may_refuse": _may_refuse(s),
    }
    return _plain(found)


def _may_refuse(s: Solution) -> str:
    """Why the wrenches in the joints may be refused, if they may."""
    if any(row.kind in ("gap", "velocity", "spin", "text") for row in s.d.rows):
        return "a row is an expression"
    return "" if is_carried(s) else "something acts on a link without a rigid body"


def _plain(x: Any) -> Any:
    """Numbers as doubles of 16 digits."""
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [_plain(v) for v in x]
    return x if isinstance(x, str | int | None) else float(f"{float(x):.16g}") + 0.0


def main() -> None:
    """Write references; progress goes to the standard error."""
    parser = argparse.ArgumentParser(description="reference answers of random systems")
    parser.add_argument("first", nargs="?", type=int, default=0)
    parser.add_argument("last", nargs="?", type=int, default=COUNT)
    parser.add_argument("-o", "--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    found = []
    for seed in range(arguments.first, arguments.last):
        found.append(reference(seed))
        if seed % 50 == 49:
            sys.stderr.write(f"{seed + 1} systems\n")
    lines = ",\n".join(json.dumps(x, separators=(",", ":")) for x in found)
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
