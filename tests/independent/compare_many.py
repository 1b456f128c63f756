"""Any number of random systems, solved by particles and held against the library, one line of JSON
each.

    python tests/independent/compare_many.py 0 2000 -o many.jsonl

Goes on where an earlier call of the same file ended. The last line of the output says how many were
compared and the largest relative difference; the exit code is 1 if one is above the tolerance of
`test_references.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from independent.comparison import TOLERANCE, motion, run_of, wrenches
from independent.make_references import reference


def compared(seed: int) -> dict[str, Any]:
    """The largest difference of one system, of how many numbers, and whether its wrenches were
    refused with a reason.
    """
    known = reference(seed)
    run = run_of(known)
    differences = list(motion(known, run))
    refused = known["joints"] is not None and not run.reactions.joints and bool(known["may_refuse"])
    if refused and not run.reactions.why_no_joints:
        msg = f"seed {seed}: no wrenches, and no reason"
        raise AssertionError(msg)
    if known["joints"] is not None and not refused:
        differences += wrenches(known, run)
    worst = max(differences, key=lambda d: d.relative)
    line = {
        "seed": seed,
        "family": known["family"],
        "worst": worst.relative,
        "what": worst.what,
        "numbers": len(differences),
    }
    return line | {
        "refused": known["may_refuse"] if refused else "",
        "wrenches": known["joints"] is not None and not refused,
    }


def attempted(seed: int) -> dict[str, Any]:
    """As above; what the library refuses or fails at is a line as well."""
    try:
        return compared(seed)
    except Exception as problem:  # noqa: BLE001 - every failure counts, none ends the run
        return {
            "seed": seed,
            "family": "",
            "worst": float("inf"),
            "what": f"{type(problem).__name__}: {problem}",
        }


def summary(lines: list[dict[str, Any]]) -> str:
    """How many, how well."""
    worst = max(lines, key=lambda x: x["worst"])
    wrong = [x["seed"] for x in lines if not x["worst"] <= TOLERANCE]
    numbers = sum(x.get("numbers", 0) for x in lines)
    wrenches = sum(x.get("wrenches", False) for x in lines)
    refused = sum(bool(x.get("refused")) for x in lines)
    return (
        f"{len(lines)} systems, {numbers} numbers, wrenches of {wrenches} (refused with a reason: "
        f"{refused}); "
        f"worst {worst['worst']:.1e} (seed {worst['seed']}, {worst['what']}); above {TOLERANCE:g}: "
        f"{wrong or 'none'}"
    )


def main() -> int:
    """Compare the systems that are not in the file yet; progress goes to the standard error."""
    parser = argparse.ArgumentParser(description="random systems against clouds of particles")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    output: Path = arguments.output
    lines = (
        [json.loads(x) for x in output.read_text(encoding="utf-8").splitlines()]
        if output.exists()
        else []
    )
    done = {x["seed"] for x in lines}
    asked = [seed for seed in range(arguments.first, arguments.last) if seed not in done]
    began = time.monotonic()
    with output.open("a", encoding="utf-8") as file:
        for k, seed in enumerate(asked, 1):
            lines.append(attempted(seed))
            file.write(json.dumps(lines[-1]) + "\n")
            file.flush()
            left = (time.monotonic() - began) / k * (len(asked) - k)
            sys.stderr.write(
                f"\r{len(lines)} systems, worst {max(x['worst'] for x in lines):.1e}, about "
                f"{left / 60:.0f} min left  "
            )
    sys.stdout.write(f"\n{summary(lines)}\n")
    return int(any(not x["worst"] <= TOLERANCE for x in lines))


if __name__ == "__main__":
    sys.exit(main())
