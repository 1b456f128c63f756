"""CPU and wall time of short and long work: the least of several rounds, and how far the middle one lies above it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds for one unit of work; noise = (median − least)/least of the CPU times of the rounds."""

    cpu: float
    wall: float
    noise: float

    def per(self, units: int) -> Timing:
        """The same for each of so many units that were done together."""
        return Timing(self.cpu / units, self.wall / units, self.noise)


def timed(work: Work, calls: int = 1) -> tuple[float, float]:
    """CPU and wall seconds of so many calls."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - cpu, time.perf_counter() - wall


def least(samples: Sequence[tuple[float, float]], calls: int = 1) -> Timing:
    """The least CPU and the least wall time of the samples, for one call."""
    cpu, wall = ([s[k] for s in samples] for k in (0, 1))
    return Timing(min(cpu) / calls, min(wall) / calls, median(cpu) / min(cpu) - 1 if min(cpu) > 0 else 0.0)


def race(contenders: Mapping[str, Work], *, rounds: int = 7, block: float = 0.01, limit: float = 20.0) -> dict[str, Timing]:
    """Every contender in turn, round after round, so that a slow moment of the machine meets all of them.

    One sample is so many calls that they last a `block` of seconds; a contender that has had its `limit` of seconds drops out.
    """
    calls, spent, samples = {}, {}, {}
    for name, work in contenders.items():
        first = timed(work)
        calls[name] = max(1, round(block / max(timed(work)[1] if first[1] < block else first[1], 1e-9)))
        # a long first call is a sample already; a short one was only the warm-up
        samples[name] = [first] if first[1] >= block else []
        spent[name] = first[1]
    for k in range(rounds):
        for name, work in contenders.items():
            if len(samples[name]) > k or (samples[name] and spent[name] > limit):
                continue
            sample = timed(work, calls[name])
            samples[name].append(sample)
            spent[name] += sample[1]
    return {name: least(samples[name], calls[name]) for name in contenders}


def process(*command: str, rounds: int = 5, environment: Mapping[str, str] | None = None) -> Timing:
    """A program from start to end, once to warm the disk and then for each round."""
    samples = [_child(command, {**os.environ, **(environment or {})}) for _ in range(rounds + 1)]
    return least(samples[1:])


def _child(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    begin, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(environment))
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return cpu, time.perf_counter() - begin


def python(code: str, *, rounds: int = 5) -> Timing:
    """A Python program from start to end."""
    return process(sys.executable, "-c", code, rounds=rounds)
