"""Fresh random systems: particles, every integrator, exports, tables, raked axes and contacts, one
line of JSON each.

    python tests/independent/fresh_systems.py 0 2000 -o fresh.jsonl [--seconds 150]

Continues where an earlier call of the same file ended, and stops after a number of CPU-seconds.
`--table FILE` writes the counts of all lines as a table.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import random
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dalembert as da
from dalembert.exchange.exports.c import CSource, files
from dalembert.exchange.exports.export_model import ExportRequest, exported_model
from dalembert.exchange.exports.python import python_source
from independent import contact_scenes, raked_scenes
from independent.bridge import Declared
from independent.comparison import TOLERANCE, description, motion, run_of, wrenches
from independent.make_references import reference

FIRST = 10_000
KINDS = ("particles", "particles", "raked", "contact")
INTEGRATORS = ("native", "taylor", "rosenbrock", "auto", "RK45", "DOP853", "Radau", "BDF", "LSODA")
RAKED = tuple(name for name in INTEGRATORS if name != "taylor")
# of a short run by another method, relative to the state
CLOSE = 1e-5
# C is compiled for one of this number of systems
C_EVERY = 6


def relative(found, expected) -> float:
    expected = np.asarray(expected, dtype=float)
    gap = np.abs(np.asarray(found, dtype=float) - expected).max(initial=0.0)
    value = float(gap / max(1e-3, float(np.abs(expected).max(initial=0.0))))
    return value if math.isfinite(value) else math.inf


def by_particles(seed: int) -> dict[str, float]:
    """The numbers of the particles; exports at the same state; a run by another integrator."""
    known = reference(seed)
    run = run_of(known)
    worst = {"particles": max(x.relative for x in motion(known, run))}
    refused = known["joints"] is not None and not run.reactions.joints
    if known["joints"] is not None and not (refused and known["may_refuse"]):
        worst["wrenches"] = max((x.relative for x in wrenches(known, run)), default=0.0)
    d = description(known)
    s = Declared(d, ()).s
    worst |= exported(s, d, known, run, in_c=seed % C_EVERY == 0)
    start = dict(zip(run.names, run.y[0].tolist(), strict=True))
    inputs = {name: float(x) for name, x in d.inputs.items()}
    options = {"start": start, "inputs": inputs, "t0": float(d.t)}
    worst |= other_integrator(s, INTEGRATORS[seed % len(INTEGRATORS)], options)
    if inputs:
        worst |= tabulated(s, options)
    return worst


def exported(s, d, known, run, *, in_c: bool) -> dict[str, float]:
    """Accelerations by the NumPy module and by C against those of the particles."""
    start = dict(zip(d.coordinates, known["q"], strict=True))
    asked = [f"{x}.dot.dot" for x in d.coordinates]
    # a start is one of t = 0; where rows move with time there is none
    start = {} if d.rows else start
    request = ExportRequest(values={}, inputs={}, start=start, outputs=asked, linear=False)
    m = exported_model(s, request)
    x = np.array([dict(zip(run.names, run.y[0], strict=True))[v.name] for v in m.states])
    w = np.array([float(d.inputs[v.name]) for v in m.inputs])
    made = types.ModuleType("fresh")
    exec(compile(python_source(m, "numpy"), "fresh", "exec"), made.__dict__)
    found = {"numpy": made.outputs(float(d.t), x, w, made.DEFAULTS)}
    if in_c:
        found["C"] = by_c(m, float(d.t), x, w, len(asked))
    return {name: relative(np.ravel(a), known["accelerations"]) for name, a in found.items()}


def by_c(m, t, x, w, count):
    """The outputs of the C files."""
    real = ctypes.c_double
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files(m, "fresh").items():
            (folder / file).write_text(text)
        command = ["gcc", "-O0", "-shared", "-fPIC", "-o", "fresh.so", "fresh.c", "-lm"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        library = ctypes.CDLL(str(folder / "fresh.so"))
        source = CSource(m, "fresh")
        p = (real * (len(m.parameters) + max(1, len(source.precomputed[1]))))()
        library.fresh_defaults(p)
        library.fresh_prepare(p)
        y = (real * count)()
        state, inputs = (real * max(1, len(x)))(*x), (real * max(1, len(w)))(*w)
        library.fresh_outputs(real(t), state, inputs, p, y)
        return np.array(y)


def other_integrator(s, name: str, options) -> dict[str, float]:
    """A short run by a method against the default one at a tighter tolerance."""
    try:
        mine = da.simulate(s, 0.02, integrator=name, rtol=1e-8, atol=1e-10, **options)
    except da.NotApplicable:
        # Taylor's method does without rows in augmented form
        return {}
    fine = da.simulate(s, 0.02, rtol=1e-11, atol=1e-12, **options)
    names = [q.name for q in s.q]
    a, b = ([run[n][-1] for n in names] for run in (mine, fine))
    return {f"integrator {name}": relative(a, b) * TOLERANCE / CLOSE}


def tabulated(s, options) -> dict[str, float]:
    """Inputs as tables of their values."""
    t0, times = options["t0"], np.linspace(0.0, 0.1, 5)
    tables = {n: da.table(t0 + times, np.full(5, x)) for n, x in options["inputs"].items()}
    one, other = (
        da.simulate(s, 0.02, rtol=1e-10, atol=1e-12, **options | {"inputs": inputs})
        for inputs in (options["inputs"], tables)
    )
    return {"table": relative(other.y[-1], one.y[-1]) * TOLERANCE / CLOSE}


def compared(k: int) -> dict[str, float]:
    kind, seed = KINDS[k % len(KINDS)], FIRST + k
    if kind == "particles":
        return by_particles(seed)
    draw = random.Random(seed)
    if kind == "raked":
        name = RAKED[k // len(KINDS) % len(RAKED)]
        return raked_scenes.differences(draw, name)
    return contact_scenes.differences(draw)


def attempted(k: int) -> dict[str, object]:
    """One line; an error of the library with a message is a refusal, any other a crash."""
    line: dict[str, object] = {"k": k, "kind": KINDS[k % len(KINDS)]}
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            # some draws are stiff, light or at rest
            warnings.simplefilter("ignore", da.DalembertWarning)
            line["worst"] = compared(k)
    except da.DalembertError as problem:
        line["refused"] = f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}"
    except Exception as problem:  # noqa: BLE001 - every failure counts, none ends the campaign
        line["crash"] = f"{type(problem).__name__}: {problem}"[:300]
    line["cpu"] = round(time.process_time() - began, 2)
    return line


def table(lines) -> str:
    """The counts, what was refused, and what is wrong."""
    rows, worst = Counter(), defaultdict(float)
    for line in lines:
        for what, x in line.get("worst", {}).items():
            rows[what] += 1
            worst[what] = max(worst[what], x)
    refused = Counter(x["refused"].split(":")[0] for x in lines if "refused" in x)
    crashes = [f"{x['k']}: {x['crash']}" for x in lines if "crash" in x]
    wrong = [
        f"{x['k']}: {what} {v:.1e}"
        for x in lines
        for what, v in x.get("worst", {}).items()
        if not v <= TOLERANCE
    ]
    counted = Counter(x["kind"] for x in lines)
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counted.items()))
    text = [
        "# Fresh random systems",
        "",
        (
            f"Written by `python tests/independent/fresh_systems.py`; {len(lines)} systems "
            f"({kinds}): {len(wrong)} wrong, "
            f"{len(crashes)} crashes, {sum(refused.values())} refused with a message; the longest "
            f"took {max(x['cpu'] for x in lines):.0f} s of CPU."
        ),
        "",
        (
            f"Differences are relative to a limit of {TOLERANCE:g}; runs by another integrator and "
            f"by tables are scaled to it, {CLOSE:g} of the state being the limit."
        ),
        "",
        "| compared with | systems | largest difference |",
        "| --- | ---: | ---: |",
        *(f"| {what} | {rows[what]} | {worst[what]:.1e} |" for what in sorted(rows)),
        "",
        "Refused: " + (", ".join(f"{n} × {name}" for name, n in sorted(refused.items())) or "none"),
    ]
    for title, items in (("Wrong", wrong), ("Crashes", crashes)):
        text += ["", f"{title}: {'; '.join(items) or 'none'}"]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="fresh random systems against references")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--table", type=Path)
    o = parser.parse_args()
    done = o.output.read_text(encoding="utf-8").splitlines() if o.output.exists() else []
    lines = [json.loads(x) for x in done]
    known, began = {x["k"] for x in lines}, time.process_time()
    with o.output.open("a", encoding="utf-8") as file:
        for k in range(o.first, o.last):
            if k in known or time.process_time() - began > o.seconds:
                continue
            lines.append(attempted(k))
            file.write(json.dumps(lines[-1]) + "\n")
            file.flush()
    text = table(lines)
    if o.table:
        o.table.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    wrong = [x for x in lines if any(not v <= TOLERANCE for v in x.get("worst", {}).values())]
    return int(bool(wrong) or any("crash" in x for x in lines))


if __name__ == "__main__":
    sys.exit(main())
