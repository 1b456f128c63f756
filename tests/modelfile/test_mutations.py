"""Files with mistakes in them: each is refused with its place in one sentence, or is another
model; none fails otherwise.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import dalembert as da
from dalembert.exchange.modelfile.reader import read_model
from dalembert.exchange.modelfile.source_positions import BadModel
from dalembert.exchange.modelfile.templates import TEMPLATES

FILES = [
    f.read_text(encoding="utf-8")
    for f in sorted((Path(__file__).parents[2] / "examples" / "models").glob("*.toml"))
]
TEXTS = [*(f.partition("\n[[printed]]")[0] for f in FILES), *TEMPLATES.values()]
_WORD = re.compile(r"[A-Za-z_]\w+")
_UNIT = re.compile(r'"([0-9./]+) ([A-Za-z][^"]*)"')
WRONG = (
    "true",
    "[]",
    "{}",
    "[1, 2]",
    "1979-05-27",
    '""',
    "-1",
    "nan",
    "inf",
    "1e400",
    "{ a = 1 }",
    '"N.x"',
    '"O"',
    "[[[]]]",
)
GARBLE = ("", "[", "]", "=", '"', "\n", "{", "}", "\x00", "\ud800", "9" * 500, "(" * 300)


def dropped(text, rng):
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def renamed(text, rng):
    word = rng.choice(list(_WORD.finditer(text)))
    return text[: word.start()] + word[0] + rng.choice("xq7_é") + text[word.end() :]


def of_wrong_kind(text, rng):
    value = rng.choice(list(re.finditer(r'= ("[^"]*"|[0-9.]+)', text)))
    return text[: value.start(1)] + rng.choice(WRONG) + text[value.end(1) :]


def unbalanced(text, rng):
    quoted = rng.choice(list(re.finditer(r'"([^"\n]+)"', text)))
    k = rng.randrange(quoted.start(1), quoted.end(1) + 1)
    return text[:k] + rng.choice("()+*/^@.,'#{}[]\\ \0\"") + text[k:]


def garbled(text, rng):
    k = rng.randrange(len(text))
    return text[:k] + rng.choice(GARBLE) + text[k + rng.randrange(3) :]


MUTATIONS = (dropped, renamed, of_wrong_kind, unbalanced, garbled)


def outcome(text):
    """ "refused" with its place, or "model"; anything else is an error of ours."""
    try:
        read_model(text, "m.toml")
    except BadModel as problem:
        refused = problem
    else:
        return "model"
    assert refused.file == "m.toml"
    assert str(refused).startswith("m.toml")
    assert refused.message
    assert "\n" not in refused.message
    return "refused" if refused.line else "refused as a whole"


def mutated(count, seed):
    rng = random.Random(seed)
    for k in range(count):
        yield MUTATIONS[k % len(MUTATIONS)](rng.choice(TEXTS), rng)


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def check(count, seed):
    found = [outcome(text) for text in mutated(count, seed)]
    assert found.count("refused") > count / 2
    # hardly any fault has no place of its own
    assert found.count("refused as a whole") < count / 50


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_mutated_files():
    check(60, 18)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_two_thousand_mutated_files():
    check(2000, 2026)


def wrong_units():
    for text in TEXTS:
        for found in _UNIT.finditer(text):
            unit = found[2]
            if (
                found.start() > text.index("constants")
                and "\n" not in text[text.index("constants") : found.start()]
            ):
                yield (
                    text[: found.start(2)]
                    + ("kg*m" if unit != "kg*m" else "s")
                    + text[found.end(2) :]
                )


def test_every_wrong_unit_is_found():
    planted = list(wrong_units())
    assert len(planted) > 60
    for text in planted:
        with pytest.raises(BadModel, match=r"unlike terms|is needed|takes a number"):
            read_model(text)


def test_a_term_of_another_dimension_is_found():
    found = 0
    for text in TEXTS:
        for value in re.finditer(r'(?:potential[^=]*|offset|F|T|stiffness) = "([^"]+)"', text):
            # what a run puts in is a number in SI units
            if not text[: value.start()].rpartition("\n")[2].startswith("inputs"):
                planted = (
                    f"{text[: value.start(1)]}3*({value[1]})*(1 + O.v @ N.x + "
                    f"t){text[value.end(1) :]}"
                )
                with pytest.raises(BadModel):
                    read_model(planted)
                found += 1
    assert found > 20


def test_errors_can_travel():
    import pickle

    with pytest.raises(da.BadModel) as refused:
        read_model("pin = 3")
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.line) == (str(refused.value), 1)
