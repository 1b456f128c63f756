"""Every system of the gallery in Chromium against this machine: as recorded, and with random
constants and starts; a table of it.
"""

from __future__ import annotations

import base64
import dataclasses
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from live_runs import FOLLOW, Live, engine_text

from dalembert import gallery
from dalembert.errors import DalembertError

pytestmark = pytest.mark.slow

TABLE = Path(__file__).resolve().parents[2] / "build" / "live.md"
RANDOM, TRIES, SAMPLES, FEWEST_STEPS = 5, 40, 201, 50


@pytest.fixture(scope="module")
def page(browser):
    found = browser.new_page()
    found.add_script_tag(content=engine_text() + FOLLOW + "window.follow = follow;")
    return found


@pytest.fixture(scope="module")
def table():
    rows = []
    yield rows
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    names = (
        "system",
        "setting",
        "compared until",
        "coordinates differ by",
        "speeds by",
        "E_Z drift in the page",
        "E_Z drift here",
    )
    head = f"| {' | '.join(names)} |\n|{' --- |' * len(names)}"
    TABLE.write_text("\n".join([head, *sorted(rows)]) + "\n", encoding="utf-8")


@dataclasses.dataclass
class Changed:
    """Constants and starts of one comparison."""

    values: dict
    starts: dict


def changes(live):
    """As recorded, then random ones that both sides may refuse."""
    yield Changed({}, {})
    rng = np.random.default_rng(17)
    data = live.module.data
    constants = [
        s.name
        for s in live.system.symbols.values()
        if s.kind == "constant" and s.name in data["values"]
    ]
    for k in range(TRIES):
        values = {name: data["values"][name] * rng.uniform(0.9, 1.1) for name in constants}
        starts = {
            f["name"]: f["value"] + rng.uniform(-0.1, 0.1) * max(abs(f["value"]), 0.5)
            for f in data["starts"]
        }
        # where no other start is possible (rows that are not linear in the rates), constants alone
        yield Changed(values, starts if k < TRIES // 2 else {})


def native(live, changed, rtol):
    data = live.module.data
    given = {
        f["name"]: changed.starts.get(f["name"], f["value"])
        for f in data["starts"]
        if f["given"] or f["name"] in changed.starts
    }
    guess = {
        name: x for which in ("guess", "bent") for name, (_, x) in data["start"][which].items()
    }
    return live.native(given, rtol=rtol, values=changed.values, guess=guess)


def in_chromium(page, live, settings):
    # the page gets the code as base64 of the plain module
    code = base64.b64encode(zlib.decompress(base64.b64decode(live.module.compressed))).decode()
    script = "given => follow(given, Uint8Array.from(atob(given.code), c => c.charCodeAt(0)))"
    return page.evaluate(script, {**live.given(settings), "code": code})


def drifts(run, found, until):
    """The largest changes of E_Z up to a time, as parts of its scale: here, and in the page."""
    scale = run.integrals.scale or 1.0
    for t, E in ((run.t, run.integrals.E_Z), (np.array(found["t"]), np.array(found["E_Z"]))):
        yield float(np.abs(E - E[0])[t <= until].max()) / scale


def rounded_drifts(live, changed, at_steps, until):
    """The drifts of Python's runs from starts that differ by rounding."""
    for k in (-10, -2, -1, 1, 2, 10):
        starts = {name: x * (1.0 + k * 2.0**-53) for name, x in changed.starts.items()}
        run = native(live, Changed(changed.values, starts), 1e-9)
        yield next(iter(drifts(run, at_steps, until)))


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("name", gallery.names())
def test_the_page_agrees(page, table, name):
    live, done = Live(name), 0
    for changed in changes(live):
        if done > RANDOM:
            break
        try:
            run, finer = native(live, changed, 1e-9), native(live, changed, 5e-10)
        except DalembertError:
            # the setting is impossible, or the motion stops: there is nothing to compare
            continue
        times = np.linspace(0.0, live.entry.duration, SAMPLES)
        even, steps = (
            live.setting(values=changed.values, starts=changed.starts, at=times.tolist()),
            live.setting(values=changed.values, starts=changed.starts),
        )
        found, at_steps = in_chromium(page, live, [even, steps])
        assert "fault" not in found, found
        ours, other = (np.hstack([r.at(times).q, r.at(times).u]) for r in (run, finer))
        theirs = np.array(found["states"])
        # each by its own largest value, or by a hundredth: atol = 1e-9 asks for no more digits of
        # what stays smaller
        size = np.maximum(np.abs(ours).max(axis=0), 1e-2)
        spread = np.abs(ours - other) / size
        # up to where halving the tolerance shows, but at least so many steps
        shows = spread.max(axis=1) > 1e-6
        until = int(np.argmax(shows)) if shows.any() else len(times)
        until = max(
            until, int(np.searchsorted(times, run.t[min(FEWEST_STEPS, len(run) - 1)], side="right"))
        )
        apart, n = (np.abs(ours - theirs) / size)[:until].max(axis=0), run.q.shape[1]
        difference, of_speeds = float(apart[:n].max()), float(apart[n:].max(initial=0.0))
        here, there = drifts(run, at_steps, times[until - 1])
        label = (
            "recorded"
            if not changed.values
            else f"random {done}" + " (constants)" * (not changed.starts)
        )
        table.append(
            f"| {name} | {label} | {times[until - 1]:.3g} s | {difference:.1e} | {of_speeds:.1e} | "
            f"{there:.1e} | {here:.1e} |"
        )
        assert difference <= 1e-7, (label, changed)
        # near places where speeds are singular these are less well determined than the motion
        assert of_speeds <= 1e-5, (label, changed)
        if max(here, there) > 1e-12 and not 0.5 <= there / here <= 2.0:
            # where rounding of the start decides the steps (n-four-bar: 117 to 121 of them), so
            # does it decide the drift: of Python's runs too
            others = [here, *rounded_drifts(live, changed, at_steps, times[until - 1])]
            assert 0.5 * min(others) <= there <= 2.0 * max(others), (label, others, there)
        done += 1
    assert done == RANDOM + 1
