"""Every URDF of example-robot-data with a fixed and a free root, and every model of dm_control,
against MuJoCo and Pinocchio, which read the file themselves.

    python benchmarks/robot_witnesses.py [--rows FILE] [part of a file's name …]

Each robot has a process of its own with a limit of CPU. Rows are kept in FILE as they are measured,
and a run that was interrupted goes on. What an engine refuses is listed with its message.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import warnings
from pathlib import Path

from robots import files

LIMIT = 60
STATES = 5
TARGET = Path(__file__).resolve().with_suffix(".md")
HEAD = """# Robots against MuJoCo and Pinocchio

Every URDF of `example-robot-data` with a fixed and with a free root, and every model of
`dm_control`, at {states} random states: the largest relative difference of the accelerations. Both
engines read the file themselves, `<mimic>` included; positions that violate their couplings count
as a difference. The folders bluevolta, bravo7 and falcon are those of version 5.0.0 of
`example-robot-data`, all others of 6.0.0.

Written by `python benchmarks/robot_witnesses.py`; {count} rows: {agree} agree with every engine
that takes the file, {differ} differ, {alone} have no engine that takes them, {refused} are refused
by dalembert. {mimics} rows have couplings.

| file | root | couplings | MuJoCo | Pinocchio |
| --- | --- | ---: | --- | --- |
"""


def cases() -> list[tuple[str, str, str]]:
    """(file, folder, root)"""
    found = []
    for file, root in files():
        if ":" in file:
            continue
        roots = ("fixed", "free") if file.endswith(".urdf") else ("as written",)
        found += [(file, str(root), base) for base in roots]
    return found


def measured(file: str, root: str, base: str) -> dict[str, object]:
    """One robot by both engines."""
    warnings.simplefilter("ignore")
    import dalembert as da

    try:
        s = da.load(file, root=root, base=None if base == "as written" else base)
    except da.DalembertError as problem:
        return {"refused": " ".join(str(problem).split())}
    couplings = sum(e.kind == "joint" for e in s.origin.robot.equalities)
    engines = {}
    for c in da.crosscheck(s, states=STATES).engines:
        text = str(c).partition("not compared: ")[2] or f"{c.accelerations:.0e}"
        engines[c.engine] = (text, c.agrees)
    return {"couplings": couplings, "engines": engines}


def row_of(case: tuple[str, str, str]) -> dict[str, object]:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", *case],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return {"refused": f"not within {LIMIT} s" if done.returncode < 0 else f"CRASH {last}"}


def line_of(name: str, base: str, row: dict) -> str:
    """One row of the table."""
    if "refused" in row:
        return f"| {name} | {base} | – | {str(row['refused']).replace('|', '/')} | |"
    cells = [_cell(row["engines"].get(engine)) for engine in ("MuJoCo", "Pinocchio")]
    return f"| {name} | {base} | {row['couplings'] or ''} | {' | '.join(cells)} |"


def _cell(engine) -> str:
    if engine is None:
        return "–"
    text, agrees = engine
    if re.match(r"[\d.]+e", text):
        return text if agrees else f"DIFFERS {text}"
    return (
        text.partition(" Element")[0]
        .replace("it refuses the file: ", "refused: ")
        .replace("|", "/")
    )


def verdict(row: dict) -> str:
    """agrees, differs, alone or refused"""
    if "refused" in row:
        return "refused"
    compared = [ok for text, ok in row["engines"].values() if re.match(r"[\d.]+e", text)]
    return "alone" if not compared else "agrees" if all(compared) else "differs"


def main(wanted: list[str]) -> int:
    kept = Path(wanted[1]) if wanted[:1] == ["--rows"] else None
    wanted = wanted[2:] if kept else wanted
    known = (
        dict(map(json.loads, kept.read_text(encoding="utf-8").splitlines()))
        if kept and kept.exists()
        else {}
    )
    rows = []
    for case in cases():
        file, root, base = case
        name = Path(file).relative_to(root).as_posix()
        if wanted and not any(w in name for w in wanted):
            continue
        key = f"{name} {base}"
        if key not in known:
            known[key] = row_of(case)
            if kept:
                with kept.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([key, known[key]]) + "\n")
        rows.append((name, base, known[key]))
        print(line_of(*rows[-1]), flush=True)
    count = {
        v: sum(verdict(row) == v for _, _, row in rows)
        for v in ("agrees", "differs", "alone", "refused")
    }
    mimics = sum(bool(row.get("couplings")) for _, _, row in rows)
    numbers = {"count": len(rows), "agree": count["agrees"], "differ": count["differs"]}
    head = HEAD.format(
        states=STATES, **numbers, alone=count["alone"], refused=count["refused"], mimics=mimics
    )
    if not wanted:
        TARGET.write_text(head + "\n".join(line_of(*x) for x in rows) + "\n", encoding="utf-8")
    print(head)
    return int(count["differs"] > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(*sys.argv[2:5])))
    else:
        sys.exit(main(sys.argv[1:]))
