"""Planted errors and equivalent rewritings on random systems: what is located, what is called
wrong, how long it takes.

    python tests/verify/campaign.py 0 2000                the systems of these seeds
    python tests/verify/campaign.py 0 2000 -o part1       the same in another folder

Every system gets one answer with a planted error, one with two, and one rewriting. Each line of the
tables in data/ is one answer. A call goes on where an earlier one ended, or stops after --seconds.
`--merge part1 part2 …` joins the tables of several folders, one line for each seed.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dalembert as da
from dalembert.analysis.verify.answer import read_answer
from dalembert.analysis.verify.locating import Locator
from dalembert.analysis.verify.verdict import judge
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from verify.plants import KINDS, is_false, planted
from verify.rewritings import rewritten
from verify.systems import Example, example, form_text

DATA = Path(__file__).parent / "data"
_ATTEMPTS = 12


@dataclass(frozen=True)
class Trial:
    """One answer and what was said about it."""

    seed: int
    named: bool
    family: str
    freedoms: int
    rows: int
    what: str
    outcome: str
    offered: int
    milliseconds: int


def plant_trial(e: Example, rng: Random, kind: str, errors: int) -> Trial | None:
    """Plant errors in one row, ask, and see whether all of them are named."""
    for _ in range(_ATTEMPTS):
        row = rng.randrange(len(e.forms))
        drawn = _draw(e, row, rng, kind, errors)
        if drawn is None:
            continue
        what, form = drawn
        mixed = len(e.forms) > 1 and rng.random() < 0.3
        more = f" + 2*({form_text(e.forms[(row + 1) % len(e.forms)])})" if mixed else ""
        if not is_false(e, form_text(form), rng):
            continue
        return _asked(e, row, form, more, what + (" mixed" if mixed else ""))
    return None


def _draw(
    e: Example, row: int, rng: Random, wanted: str, errors: int
) -> tuple[str, RationalForm] | None:
    terms, names = None, []
    if errors > 1 and len(e.forms[row].numerator) < 3:
        return None
    for _ in range(errors):
        kind = wanted or rng.choice(KINDS)
        terms = planted(e, row, kind, rng, terms)
        if terms is None:
            return None
        names.append(kind)
    assert terms is not None
    return "+".join(names), RationalForm(tuple(terms), e.forms[row].denominator)


def _asked(e: Example, row: int, form: RationalForm, more: str, what: str) -> Trial:
    truth = e.truth
    texts = [form_text(f) for f in e.forms]
    lines = [*texts[:row], form_text(form) + more, *texts[row + 1 :]]
    size = (e.seed, e.named, e.d.family, len(truth.udot), len(truth.kin.rows))
    try:
        answer = read_answer(truth, "\n".join(f"{line} = 0" for line in lines), None, {}).rows
        right = read_answer(truth, f"{texts[row]}{more} = 0", None, {}).rows[0]
    except da.DalembertError as problem:
        return Trial(*size, what, f"refused: {str(problem).splitlines()[0][:60]}", 0, 0)
    begin = time.process_time()
    judgement = judge(truth, answer)
    options = Locator(truth, answer).corrections(row, free=False) if row in judgement.wrong else []
    spent = round(1e3 * (time.process_time() - begin))
    if row not in judgement.wrong:
        return Trial(*size, what, f"called {judgement.kind.value}", 0, spent)
    corrected = [Locator(truth, answer).corrected(option, row) - right.value for option in options]
    hit = any(decide_zero(truth.tape, [c.i]).all_zero for c in corrected)
    fewer = bool(options) and len(options[0]) < what.count("+") + 1
    outcome = (
        "named"
        if hit
        else "fewer changes suffice"
        if fewer
        else "other corrections"
        if options
        else "not located"
    )
    return Trial(*size, what, outcome, len(options), spent)


def rewriting_trial(e: Example, how: str, text: str) -> Trial:
    """One more way to write the same equations."""
    truth = e.truth
    size = (e.seed, e.named, e.d.family, len(truth.udot), len(truth.kin.rows))
    begin = time.process_time()
    try:
        outcome = judge(truth, read_answer(truth, text, None, {}).rows).kind.value
    except da.DalembertError as problem:
        outcome = f"refused: {str(problem).splitlines()[0][:60]}"
    return Trial(*size, how, outcome, 0, round(1e3 * (time.process_time() - begin)))


# ---- tables ------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a table."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def summary(lines: list[dict[str, str]]) -> str:
    """How often each outcome occurs, and times."""
    outcomes = Counter(line["outcome"].partition(":")[0] for line in lines)
    times = sorted(int(line["milliseconds"]) for line in lines) or [0]
    spread = (
        f"median {times[len(times) // 2]} ms, 95 % {times[int(0.95 * len(times))]} ms, worst "
        f"{times[-1]} ms"
    )
    systems = len({(line["seed"], line["named"]) for line in lines})
    return f"{len(lines)} answers on {systems} systems: {dict(outcomes.most_common())}; {spread}"


TABLES = ("plants", "pairs", "rewritings")


def main() -> None:
    """Append the trials of a range of seeds to the tables, until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=0)
    parser.add_argument("-o", "--output", type=Path, default=DATA)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--merge", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = arguments.output
    folder.mkdir(exist_ok=True)
    merge(arguments.merge, folder)
    done = folder / "done.txt"
    first = max(arguments.first, int(done.read_text()) + 1 if done.exists() else 0)
    end = time.process_time() + arguments.seconds
    for seed in range(first, arguments.last):
        if time.process_time() > end:
            break
        for what, trials in answers(seed).items():
            append(folder / f"{what}.csv", trials)
        done.write_text(f"{seed}\n")
    for what in TABLES:
        sys.stdout.write(f"{what}: {summary(read(folder / f'{what}.csv'))}\n")


def merge(parts: list[Path], folder: Path) -> None:
    """Join the tables of several folders, sorted by seed."""
    for what in TABLES if parts else ():
        lines = {line["seed"]: line for part in parts for line in read(part / f"{what}.csv")}
        with (folder / f"{what}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(Trial.__dataclass_fields__), lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(lines.values(), key=lambda line: int(line["seed"])))


def append(path: Path, trials: list[Trial]) -> list[dict[str, str]]:
    """Write trials behind the others of a table."""
    new = not path.exists()
    lines = [
        {name: str(getattr(trial, name)) for name in Trial.__dataclass_fields__} for trial in trials
    ]
    with path.open("a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(Trial.__dataclass_fields__), lineterminator="\n")
        if new:
            table.writeheader()
        table.writerows(lines)
    return lines


def answers(seed: int) -> dict[str, list[Trial]]:
    """The answers of one seed: its system with numbers as drawn, or with named constants."""
    rng = Random(f"answers {seed}")
    trials: dict[str, list[Trial]] = {what: [] for what in TABLES}
    variants = [False, True]
    rng.shuffle(variants)
    e = next((e for named in variants if (e := example(seed, named=named)) is not None), None)
    if e is None:
        return trials
    start = seed % len(KINDS)
    kinds = (*KINDS[start:], *KINDS[:start])
    single = (plant_trial(e, rng, kind, 1) for kind in kinds)
    pair = plant_trial(e, rng, "", 2)
    ways = list(rewritten(e, rng))
    trials["plants"] += islice((trial for trial in single if trial is not None), 1)
    trials["pairs"] += [] if pair is None else [pair]
    trials["rewritings"].append(rewriting_trial(e, *rng.choice(ways)))
    return trials


if __name__ == "__main__":
    main()
