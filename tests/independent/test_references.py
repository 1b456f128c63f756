"""Random systems against a computation that shares nothing with the library: particles, high
precision, free-body balance.

`data/references.json` holds 200 systems, drawn and solved by `make_references.py` (its docstring
says how to make others); `REFERENCES=path pytest tests/independent` compares those of another file;
`compare_many.py` draws, solves and compares any number.
"""

import json
import os
from pathlib import Path

import pytest

from independent.comparison import TOLERANCE, description, motion, run_of, wrenches
from independent.make_references import DATA, digest, reference

SYSTEMS = {
    known["seed"]: known
    for known in json.loads(Path(os.environ.get("REFERENCES", DATA)).read_text(encoding="utf-8"))
}


def worst(differences):
    """Those that are too large, the largest first."""
    wrong = sorted((d for d in differences if d.relative > TOLERANCE), key=lambda d: -d.relative)
    return [f"{d.what}: {d.expected:.12g} expected, {d.actual:.12g} found" for d in wrong]


def test_a_seed_draws_the_system_that_was_solved():
    changed = [
        seed for seed, known in SYSTEMS.items() if digest(description(known)) != known["digest"]
    ]
    assert [] == changed


@pytest.mark.each_time(2)
@pytest.mark.parametrize("seed", list(SYSTEMS)[:6])
def test_the_references_are_what_the_particles_say(seed):
    assert SYSTEMS[seed] == reference(seed)


@pytest.mark.parametrize(
    "seed",
    [
        seed if k % 4 == 0 else pytest.param(seed, marks=pytest.mark.slow)
        for k, seed in enumerate(SYSTEMS)
    ],
)
def test_every_number(seed):
    """Accelerations, energies, multipliers, drive loads, and every wrench that is unique."""
    known, run = SYSTEMS[seed], run_of(SYSTEMS[seed])
    assert [] == worst(motion(known, run))
    if known["joints"] is not None:
        check_wrenches(known, run)


def check_wrenches(known, run):
    """They are refused, where it is not known what carries a load or a row, or right."""
    reactions = run.reactions
    if not reactions.joints and known["may_refuse"]:
        assert reactions.why_no_joints
        return
    assert "" == reactions.why_no_joints
    assert [] == worst(wrenches(known, run))
