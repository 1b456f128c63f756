"""docs/robots.md: every URDF of example-robot-data and every model of dm_control, loaded and held
against the engines.

    python benchmarks/robots.py [--rows FILE] [part of a file's name …]

Each robot has a process of its own, so that one that takes too long ends alone and is a row with
the reason. Rows are kept in FILE as they are found, and those that are there already are not
measured again: a run that was interrupted goes on.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

LIMIT = 60.0
TARGET = Path(__file__).resolve().parents[1] / "docs" / "robots.md"
HEAD = """# Robots, measured

Every nonempty URDF of the package `example-robot-data` and every model in the folders suite and
locomotion of `dm_control` (scenes and defaults excepted), read by `da.load` and held against the
engines that know the same file at 20 random states: the largest relative difference of the
accelerations. Robots without joints, and those marked `:free`, are loaded with `base="free"`. CPU
is that of loading, deriving, compiling and the first evaluation without the imports, on two cores
shared with other work: with an empty cache, and once more in a new process (again); `u̇` and
`aba` are one evaluation called from Python, by the compiled equations and by Pinocchio, measured
one after the other, each in a process of its own. The principles are compared exactly; where that
is not decided within {limit:g} s of CPU the last column says so.

Written by `python benchmarks/robots.py`; {count} files: {agree} agree with every engine that
takes them, and at least one does; the agreement of the principles is undecided for {undecided}.

| file | freedoms | MuJoCo | Pinocchio | CPU s | again | u̇ µs | aba µs | principles |
| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | --- |
"""


def files() -> list[tuple[str, Path]]:
    """(file, root) of all models that are installed; one humanoid with a free root too."""
    found = []
    # a second version of the package, in a folder of the path, adds what the first does not have
    for path in (Path(p) / "cmeel.prefix" for p in sys.path):
        robots = path / "share" / "example-robot-data" / "robots"
        urdfs = [str(f) for f in sorted(robots.rglob("*.urdf"))]
        known = {Path(f).relative_to(root).as_posix() for f, root in found}
        found += [
            (f, robots)
            for f in sorted(
                [*urdfs, *(f"{f}:free" for f in urdfs if f.endswith("talos_reduced.urdf"))]
            )
            if Path(f).relative_to(robots).as_posix() not in known
        ]
    found.sort(key=lambda x: Path(x[0]).relative_to(x[1]).as_posix())
    spec = find_spec("dm_control")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        models = sorted([*(root / "suite").glob("*.xml"), *(root / "locomotion").rglob("*.xml")])
        found += [
            (str(f), root) for f in models if not re.search(r"scene|defaults|floor|_base", f.name)
        ]
    return found


def first_evaluation(file: str, root: str):
    """From the file to u̇: its CPU, the system, and the call that gives u̇ again."""
    warnings.simplefilter("ignore")
    # what is imported is not measured
    import flint  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import numpy as np

    import dalembert as da
    from dalembert.exchange.robots import crosscheck as _check  # noqa: F401
    from dalembert.exchange.robots.optional_engines import mujoco
    from dalembert.runtime.dynamics.compile import compile as _opened  # noqa: F401
    from dalembert.runtime.numerics import forward_dynamics as _native  # noqa: F401

    mujoco()
    path, _, base = file.partition(":")
    began = time.process_time()
    try:
        s = da.load(path, root=root, base=base or None)
    except da.BadDescription as problem:
        if "no joints that move" not in str(problem):
            return {"reason": str(problem)}, None, None
        s = da.load(path, root=root, base="free")
    f = da.compile(s)
    q, u = np.full(len(f.equations.q), 0.1), np.full(len(f.equations.u), 0.2)
    f(q, u)
    return {"freedoms": len(f.equations.u), "cpu": time.process_time() - began}, s, lambda: f(q, u)


def measured(file: str, root: str) -> dict[str, object]:
    """All numbers of one robot."""
    import dalembert as da

    row, s, call = first_evaluation(file, root)
    if s is None:
        return row
    row["call"] = _shortest(call)
    check = da.crosscheck(s)
    row["engines"] = {
        c.engine: (c.why_not or f"{c.accelerations:.0e}", c.agrees) for c in check.engines
    }
    if s.origin.path_is_urdf:
        # in a process of its own: beside other engines it is several times slower
        command = [
            sys.executable,
            __file__,
            "--aba",
            str(s.origin.path),
            "free" if s.origin.free_base else "fixed",
        ]
        row["aba"] = json.loads(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
    print(json.dumps(row), flush=True)
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(began + LIMIT), int(began + LIMIT)))
    try:
        verdict = da.agreement(s, compiled=False)
        count = sum(r.applicable for r in verdict.rows)
        row["principles"] = (
            f"{count} agree"
            if verdict.agree
            else "undecided"
            if verdict.holds is None
            else "DISAGREE"
        )
        row["principles"] = f"{row['principles']}, {time.process_time() - began:.1f} s"
    except da.DalembertError as problem:
        row["principles"] = str(problem)
    return row


def _shortest(call, repeats: int = 60, number: int = 40) -> float:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(number):
            call()
        best = min(best, (time.perf_counter() - began) / number)
    return best


def _aba(file: str, *, free: bool) -> float | None:
    try:
        import pinocchio as pin
    except ImportError:
        return None
    import numpy as np

    model = pin.buildModelFromUrdf(file, *((pin.JointModelFreeFlyer(),) if free else ()))
    data, q = model.createData(), pin.neutral(model)
    v, tau = np.full(model.nv, 0.2), np.zeros(model.nv)
    return _shortest(lambda: pin.aba(model, data, q, v, tau))


def row_of(file: str, root: Path) -> dict[str, object]:
    """The numbers of one robot, from a process of its own; a second limit leaves time for what
    comes before the agreement.
    """
    command = [sys.executable, __file__, "--one", str(file), str(root)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "DALEMBERT_CACHE": cache}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        try:
            out, err = process.communicate(timeout=2 * LIMIT)
            late = False
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            late = True
        again = subprocess.run(
            [*command[:2], "--again", *command[3:]],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        ).stdout
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if not lines:
        return {"reason": f"not within {2 * LIMIT:g} s" if late else err.strip().splitlines()[-1]}
    return {
        "principles": f"undecided within {LIMIT:g} s",
        **json.loads(lines[-1]),
        "again": json.loads(again).get("cpu"),
    }


def line_of(name: str, row: dict[str, object]) -> str:
    """One row of the table."""
    if "reason" in row:
        return f"| {name} | – | {str(row['reason']).replace('|', '/')} | | | | | | |"
    engines = row["engines"]
    shown = [_engine(engines.get(e)) for e in ("MuJoCo", "Pinocchio")]
    aba = "" if row.get("aba") is None else f"{1e6 * row['aba']:.1f}"
    numbers = (
        f"{row['cpu']:.2f} | {row['again']:.2f} | {1e6 * row['call']:.1f} | {aba} | "
        f"{row['principles']}"
    )
    return f"| {name} | {row['freedoms']} | {shown[0]} | {shown[1]} | {numbers} |"


def _engine(found) -> str:
    if found is None:
        return "–"
    text, agrees = found
    return text if agrees else f"DIFFERS {text}" if re.match(r"[\d.]+e", text) else _refusal(text)


def _refusal(text: str) -> str:
    """Why an engine does not take a file, without where in it."""
    return (
        text.partition(" Element")[0]
        .replace("it refuses the file: ", "refused: ")
        .replace("Error: ", "")
        .replace("|", "/")
    )


def witnessed(engines: dict[str, tuple[str, bool]]) -> bool:
    """Whether an engine took the file and none that did differs."""
    compared = [ok for text, ok in engines.values() if re.match(r"[\d.]+e", text)]
    return bool(compared) and all(compared)


def main(wanted: list[str]) -> None:
    kept = Path(wanted[1]) if wanted[:1] == ["--rows"] else None
    wanted = wanted[2:] if kept else wanted
    known = (
        dict(map(json.loads, kept.read_text(encoding="utf-8").splitlines()))
        if kept and kept.exists()
        else {}
    )
    rows = []
    for file, root in files():
        name = Path(file).relative_to(root).as_posix()
        if wanted and not any(w in name for w in wanted):
            continue
        if name not in known:
            known[name] = row_of(file, root)
            if kept:
                with kept.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([name, known[name]]) + "\n")
        rows.append((name, known[name]))
        print(line_of(*rows[-1]), flush=True)
    agree = sum("engines" in row and witnessed(row["engines"]) for _, row in rows)
    undecided = sum("reason" not in row and "undecided" in row["principles"] for _, row in rows)
    head = HEAD.format(limit=LIMIT, count=len(rows), agree=agree, undecided=undecided or "none")
    text = head + "\n".join(line_of(*x) for x in rows) + "\n"
    if not wanted:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(*sys.argv[2:4])))
    elif sys.argv[1:2] == ["--again"]:
        print(json.dumps(first_evaluation(*sys.argv[2:4])[0]))
    elif sys.argv[1:2] == ["--aba"]:
        print(json.dumps(_aba(sys.argv[2], free=sys.argv[3] == "free")))
    else:
        main(sys.argv[1:])
