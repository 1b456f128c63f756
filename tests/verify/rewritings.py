"""Equivalent ways to write the same equations of motion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from dalembert.errors import DalembertError
from dalembert.mechanics.equations.equations_of_motion import solve_accelerations
from dalembert.symbolic.algebra.normal_form.expansion import TooLong, normal_form
from verify.systems import Example, form_text

LONGEST = 6000


def rewritten(e: Example, rng: Random) -> Iterator[tuple[str, str]]:
    """(how, text) of answers that are right."""
    truth, rows = e.truth, [f"({form_text(f)})" for f in e.forms]
    t, equations = truth.tape, truth.equations
    constants = [s.name for s in e.system.symbols.values() if s.kind == "constant"] or ["3"]
    yield "normal form", "\n".join(f"{r} = 0" for r in rows)
    yield "as printed", equations.text(group=True)
    yield "LaTeX", equations.latex()
    yield "combined and swapped", _mixed(rows, constants, rng)
    yield "divided", "\n".join(f"{r}/{rng.choice(constants)} = 0" for r in rows)
    halves = [
        re.sub(r"(?<!\w)sin\(([^()]*)\)(?!\*\*)", r"2*sin((\1)/2)*cos((\1)/2)", r) for r in rows
    ]
    yield (
        "identities",
        "\n".join(
            re.sub(r"sin\(([^()]*)\)\*\*\(2\)", r"(1-cos(\1)**2)", r) + " = 0" for r in halves
        ),
    )
    yield "spelling", "\n".join(f"{_spelled(r)} = 0" for r in rows)
    yield "sides exchanged", "\n".join(f"0 = {r}" for r in reversed(rows))
    if len(truth.udot) <= 3:
        done = solve_accelerations(equations)
        try:
            forms = normal_form(done.tape, done.udot, limit=400)
        except (DalembertError, TooLong):
            return
        lines = [
            f"{t.nodes[a][1]} = {form_text(f)}" for a, f in zip(truth.udot, forms, strict=True)
        ]
        if max(map(len, lines)) <= LONGEST:
            yield "solved", "\n".join(lines)


def _mixed(rows: list[str], constants: list[str], rng: Random) -> str:
    mixed = []
    for i, r in enumerate(rows):
        line = f"{r}*{rng.choice(['1', '2', '(1/3)', *constants])}"
        line += "".join(
            f" + {rng.choice(['1', '(-1)', '2', *constants])}*{other}" for other in rows[:i]
        )
        mixed.append(f"{line} = 0")
    return "\n".join(rng.sample(mixed, len(mixed)))


def _spelled(row: str) -> str:
    text = re.sub(r"\b(\w+)''", r"\1_ddot", row.replace("**", "^"))
    return re.sub(r"\b(\w+)'", r"\1dot", text).replace("*", " ")
