"""Are the equations of two source trees the same? Every gallery system by every principle, native
and common form, exactly.

    python benchmarks/same_equations.py BEFORE/src AFTER/src [SYSTEM ...]

Each tree derives in a process of its own and hands over its equations as plain nodes. They are
rebuilt on one tape, where equal nodes are equal expressions; what differs in its nodes is compared
at random points of prime fields (Schwartz–Zippel).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from dalembert.symbolic.algebra.exact.zero_test import ZeroTest
from dalembert.symbolic.algebra.tape import BINARY, LEAVES, Node, Tape

# runs in either tree: {(system, principle, form): (nodes, which of them are the residuals)}, or in
# words why there are none
DERIVE = """
import pickle, sys
from dalembert import gallery
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.symbolic.algebra.expression_graph import dependencies
from dalembert.errors import DalembertError

def program(tape, outs):
    order = dependencies(tape, outs)
    return [(i, tape.nodes[i]) for i in order], list(outs)

found = {}
for name in sys.argv[2:] or gallery.names():
    for principle, derive in PRINCIPLES:
        try:
            d = derive(gallery.build(name))
            found[name, principle.name, "native"] = program(d.tape, d.native.residuals)
            found[name, principle.name, "common"] = program(d.equations.tape, d.equations.residuals)
        except DalembertError as problem:
            found[name, principle.name, "native"] = str(problem)
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file)
"""
Program = tuple[list[tuple[int, Node]], list[int]]


def equations(src: Path, names: list[str]) -> dict[tuple[str, str, str], Program | str]:
    """What one tree derives."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "equations"
        environment = {**os.environ, "PYTHONPATH": str(src)}
        subprocess.run(
            [sys.executable, "-c", DERIVE, str(file), *names], env=environment, check=True
        )
        found: dict[tuple[str, str, str], Program | str] = pickle.loads(file.read_bytes())
        return found


def rebuilt(tape: Tape, program: Program) -> list[int]:
    """The residuals on a tape."""
    nodes, outs = program
    new: dict[int, int] = {}
    for i, (op, a, b) in nodes:
        if op in LEAVES:
            new[i] = (
                tape.symbol(str(a))
                if op == "symbol"
                else tape.const(a)
                if op == "const"
                else tape.pi
            )
        elif op in BINARY:
            new[i] = getattr(tape, op)(new[a], new[b])
        else:
            new[i] = tape.neg(new[a]) if op == "neg" else tape.call(op, new[a])
    return [new[i] for i in outs]


def verdict(before: Program | str | None, after: Program | str | None) -> str:
    """How two sets of residuals compare."""
    if before is None or after is None:
        return "only before" if after is None else "only after"
    if isinstance(before, str) or isinstance(after, str):
        return (
            "neither applies"
            if isinstance(before, str) and isinstance(after, str)
            else "APPLIES TO ONE ALONE"
        )
    tape = Tape()
    ours, theirs = rebuilt(tape, before), rebuilt(tape, after)
    if ours == theirs:
        return "node for node"
    if len(ours) != len(theirs):
        return "DIFFERENT NUMBER"
    same = (
        ZeroTest(tape).decide([tape.sub(a, b) for a, b in zip(ours, theirs, strict=True)]).all_zero
    )
    return {True: "exactly equal", False: "DIFFERENT", None: "UNDECIDED"}[same]


def main(before: Path, after: Path, names: list[str]) -> int:
    """A line for each set that is not the same, and the count of all."""
    old, new = equations(before, names), equations(after, names)
    count: Counter[str] = Counter()
    for key in sorted(old.keys() | new.keys()):
        found = verdict(old.get(key), new.get(key))
        count[found] += 1
        if found.isupper():
            print(*key, found, flush=True)
    print(", ".join(f"{k} {n}" for k, n in count.most_common()))
    return int(any(k.isupper() for k in count))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))
