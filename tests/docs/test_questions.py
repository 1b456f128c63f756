"""The questions are answered by the pages that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# words of each answer that must stand on a page that the question names
ANSWERS = {
    1: ("constraint row", "row of the matrix A"),
    2: ('s.specified("theta", 0.5)', "s.constrain(theta - 0.5)", "locked"),
    3: ("undecided", "exit code 3", "A disagreement is shown at a state", "false agreement"),
    4: ("run.start", "given, solved for or zero"),
    5: ("E_Z", "energy error", "rtol", "model error"),
    6: ("reaction=", "external load"),
    7: ("rosenbrock", "auto", "stiff"),
    8: ("da.ensemble(", "bit-identical"),
    9: ("redundant=True", "Only the sum of the reactions"),
    10: ("modelica", "fmu", "jax", "casadi", "matlab", ".latex()"),
    11: ("run.reactions", "components along N", "da.reactions"),
    12: ("da.load(", 'base="free"', "dalembert[robots]", "warning"),
    13: ("da.fit(", "standard_errors", "identifiable"),
    14: ('da.export(s, "c", folder)', "--to", "remain"),
    15: ("s.contact(P, friction=mu, restitution=e)", "sticking", "slipping", "ground"),
    16: ("da.optimize(", 'minimize="F**2"', "dalembert[optimal]", "replay"),
    17: ("consistent set", "radians", 's.constants(m="2 kg"'),
    18: ("contradict the constraints", "chattering", "stiffness", "failure.cause"),
    19: ("run.write(", "run.to_pandas()", "NumPy arrays"),
    20: ('run.animate("swing.html")', ".gif", ".mp4", "da.write_report("),
}


def questions():
    text = (DOCS / "questions.md").read_text(encoding="utf-8")
    parts = re.split(r"^\*\*(\d+)\. ", text, flags=re.MULTILINE)[1:]
    return {int(number): part for number, part in zip(parts[::2], parts[1::2], strict=True)}


def test_there_are_twenty():
    assert list(ANSWERS) == list(questions())


@pytest.mark.parametrize("number", ANSWERS)
def test_the_pages_contain_the_answer(number):
    pages = re.findall(r"\]\(([\w/-]+\.md)\)", questions()[number])
    assert pages
    text = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in pages)
    missing = [words for words in ANSWERS[number] if words.lower() not in text.lower()]
    assert [] == missing
