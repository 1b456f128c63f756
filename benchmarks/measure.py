"""CPU and wall time of short and long work: the least of several rounds, and how far the middle
one lies above it.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median
from typing import Any

Work = Callable[[], object]
_LONG = 2.0


@dataclass(frozen=True)
class Timing:
    """Seconds for one unit of work; noise = (median − least)/least of the CPU times of the
    rounds, NaN if there was one round only.
    """

    cpu: float
    wall: float
    noise: float

    @property
    def middle(self) -> Timing:
        """The median instead of the least."""
        return Timing(self.cpu * (1.0 + self.noise), self.wall * (1.0 + self.noise), self.noise)

    def per(self, units: int) -> Timing:
        """The same for each of so many units that were done together."""
        return Timing(self.cpu / units, self.wall / units, self.noise)


def timed(work: Work, calls: int = 1) -> tuple[float, float]:
    """CPU and wall seconds of so many calls, with the CPU time of the programs they start."""
    wall, cpu, children = time.perf_counter(), time.process_time(), _children()
    for _ in range(calls):
        work()
    return time.process_time() - cpu + _children() - children, time.perf_counter() - wall


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def alone() -> None:
    """Objects that other tools left are no longer looked through when memory is collected: each
    tool as in a process of its own.
    """
    gc.collect()
    gc.freeze()


def least(samples: Sequence[tuple[float, float]], calls: int = 1) -> Timing:
    """The least CPU and the least wall time of the samples, for one call."""
    cpu, wall = ([s[k] for s in samples] for k in (0, 1))
    noise = median(cpu) / min(cpu) - 1 if len(cpu) > 1 and min(cpu) > 0 else nan
    return Timing(min(cpu) / calls, min(wall) / calls, noise)


class _Contender:
    """One tool's work, and the samples taken of it: each so many calls that they last a block of
    seconds.
    """

    def __init__(self, work: Work, block: float, long: float) -> None:
        self.work = work
        first = timed(work)
        # a very long first call is a sample; otherwise it was the warm-up, and the next tells how
        # many make a block
        self.samples = [first] if first[1] >= long else []
        self.calls = 1 if self.samples else max(1, round(block / max(timed(work)[1], 1e-9)))
        self.spent = first[1]

    def sample(self) -> None:
        self.samples.append(timed(self.work, self.calls))
        self.spent += self.samples[-1][1]


def race(
    contenders: Mapping[str, Work],
    *,
    rounds: int = 7,
    block: float = 0.01,
    limit: float = 10.0,
    long: float = _LONG,
) -> dict[str, Timing]:
    """Every contender in turn, round after round, so that a slow moment of the machine meets all of
    them.

    A contender that has had its `limit` of seconds drops out; of one whose first call is `long`,
    that call counts.
    """
    alone()
    runners = {name: _Contender(work, block, long) for name, work in contenders.items()}
    for k in range(rounds):
        for runner in runners.values():
            if not runner.samples or (len(runner.samples) <= k and runner.spent < limit):
                runner.sample()
    return {name: least(runner.samples, runner.calls) for name, runner in runners.items()}


def fresh(prepare: Callable[[], Any], work: Callable[[Any], object], *, rounds: int = 7) -> Timing:
    """Work on something that is prepared anew for each round, outside the time measured; the
    first round warms up.
    """
    alone()
    samples = []
    for _ in range(rounds + 1):
        given = prepare()
        samples.append(timed(lambda given=given: work(given)))  # type: ignore[misc]
    return least(samples[1:])


def program(code: str, *, rounds: int = 5) -> Timing:
    """What a new Python process says about itself: the code must print CPU and wall seconds on
    its last line.
    """
    samples = []
    for _ in range(rounds + 1):
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        cpu, wall = map(float, done.stdout.splitlines()[-1].split())
        samples.append((cpu, wall))
    return least(samples[1:])
