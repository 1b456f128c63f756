"""What a run found: rows of timings with ratios, goals met or missed, checks passed or failed;
written as Markdown.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path

from measure import Timing

PACKAGES = (
    "dalembert",
    "numpy",
    "llvmlite",
    "sympy",
    "scipy",
    "pydy",
    "pin",
    "mujoco",
    "casadi",
    "exudyn",
    "heyoka",
)
METHOD = (
    "Seconds are the least of several rounds, in which the tools take turns, each on one thread. "
    "Noise is how far the middle round "
    "lies above the least. ÷ dalembert is a tool's CPU time divided by that of the first row of "
    "its block, so more than 1 is slower. "
    "Goals are judged on CPU time; a goal missed is a row here and nothing else, a check failed is "
    "a mistake."
)
_HEADERS = ("what", "tool", "CPU", "wall", "noise", "÷ dalembert", "goal")


@dataclass(frozen=True)
class Within:
    """A goal: at most so many seconds of CPU time."""

    seconds: float

    @property
    def wanted(self) -> str:
        """The goal in words."""
        return f"≤ {seconds(self.seconds)}"

    def judge(self, timing: Timing, _ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return self.wanted, seconds(timing.cpu), timing.cpu <= self.seconds


@dataclass(frozen=True)
class Slower:
    """A goal: this tool takes at least so many times as long as dalembert."""

    factor: float

    @property
    def wanted(self) -> str:
        """The goal in words."""
        return f"≥ {self.factor:g}×"

    def judge(self, _timing: Timing, ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return self.wanted, f"{times(ratio)}×", ratio >= self.factor


@dataclass(frozen=True)
class NoSlower:
    """A goal: this takes at most so many times as long as the first row."""

    factor: float

    @property
    def wanted(self) -> str:
        """The goal in words."""
        return f"≤ {self.factor:g}×"

    def judge(self, _timing: Timing, ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return self.wanted, f"{times(ratio)}×", ratio <= self.factor


Goal = Within | Slower | NoSlower


@dataclass
class Report:
    """The sections of a run in order; what is added is shown as progress at once."""

    group: str = ""
    begin: float = field(default_factory=time.perf_counter)
    lines: list[str] = field(default_factory=list)
    goals: list[tuple[str, str, str, str]] = field(default_factory=list)
    checks: list[tuple[str, str, bool]] = field(default_factory=list)
    _block: list[Sequence[str]] = field(default_factory=list)

    def section(self, title: str, note: str) -> None:
        """Begin a section."""
        self._end_block()
        self.group = title.lower()
        self.lines += [f"## {title}", "", note, ""]

    def progress(self, what: str) -> None:
        """Say what is being measured now."""
        print(
            f"{time.perf_counter() - self.begin:6.0f} s  {self.group}: {what}",
            file=sys.stderr,
            flush=True,
        )

    def compare(
        self,
        what: str,
        timings: Mapping[str, Timing | str],
        goals: Mapping[str, Goal] | None = None,
    ) -> None:
        """A block of rows, the first of them dalembert's own; words instead of a timing say why
        there is none.
        """
        first = next(iter(timings.values()))
        for tool, timing in timings.items():
            goal_of_tool = (goals or {}).get(tool)
            if isinstance(timing, str):
                self._block.append(
                    (
                        what,
                        tool,
                        timing,
                        "",
                        "",
                        "",
                        self._unjudged(what, tool, timing, goal_of_tool),
                    )
                )
                continue
            ratio = timing.cpu / first.cpu if isinstance(first, Timing) else nan
            shown = "" if timing is first else times(ratio)
            goal = self._judged(what, tool, timing, ratio, goal_of_tool)
            self._block.append(
                (
                    what,
                    tool,
                    seconds(timing.cpu),
                    seconds(timing.wall),
                    percent(timing.noise),
                    shown,
                    goal,
                )
            )

    def _judged(self, what: str, tool: str, timing: Timing, ratio: float, goal: Goal | None) -> str:
        if goal is None:
            return ""
        wanted, found, met = goal.judge(timing, ratio)
        verdict = "met" if met else "**missed**"
        self.goals.append((f"{self.group}: {what}, {tool}", wanted, found, verdict))
        return f"{wanted} {verdict}"

    def _unjudged(self, what: str, tool: str, reason: str, goal: Goal | None) -> str:
        """A goal against a tool that is not there is neither met nor missed, and is not passed
        over.
        """
        if goal is None:
            return ""
        self.goals.append((f"{self.group}: {what}, {tool}", goal.wanted, reason, "not measured"))
        return f"{goal.wanted} not measured"

    def check(self, what: str, found: str, *, passed: bool) -> None:
        """Something that must be true whatever the machine."""
        self.checks.append((f"{self.group}: {what}", found, passed))

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Any other table."""
        self._end_block()
        self.lines += [*markdown(headers, rows), ""]

    def text(self, line: str) -> None:
        """A sentence between tables."""
        self._end_block()
        self.lines += [line, ""]

    def _end_block(self) -> None:
        """The rows gathered so far become a table."""
        if self._block:
            self.lines += [*markdown(_HEADERS, self._block), ""]
        self._block = []

    def document(self) -> str:
        """The whole run: where, how, what was wanted, what was found."""
        self._end_block()
        checks = [
            (what, found, "passed" if passed else "**failed**")
            for what, found, passed in self.checks
        ]
        parts = ["# Benchmarks", "", METHOD, "", *markdown(("", "this run"), _environment()), ""]
        if self.goals:
            parts += ["## Goals", "", *markdown(("goal", "wanted", "found", ""), self.goals), ""]
        if checks:
            parts += ["## Checks", "", *markdown(("check", "found", ""), checks), ""]
        return "\n".join([*parts, *self.lines])


def seconds(x: float) -> str:
    """A time with three digits in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if x >= size:
            return f"{x / size:.3g} {unit}" if x / size < 999.5 else f"{x / size:.0f} {unit}"
    return f"{x / 1e-6:.2g} µs"


def times(ratio: float) -> str:
    """A ratio with three digits."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"


def percent(noise: float) -> str:
    """Noise in percent, where there was more than one round."""
    return "one run" if isnan(noise) else f"{noise:.0%}"


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with its columns aligned, so that it reads well in a terminal too."""
    widths = [max(len(r[k]) for r in (headers, *rows)) for k in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    return [line(headers), line(["-" * w for w in widths]), *(line(r) for r in rows)]


def _environment() -> list[tuple[str, str]]:
    """Machine, versions, date."""
    versions = [f"{name} {_version(name)}" for name in PACKAGES]
    return [
        ("date", datetime.datetime.now(tz=datetime.UTC).date().isoformat()),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("system", f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"),
        ("packages", ", ".join(versions)),
    ]


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """The model of the processor, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (x.partition(":")[2].strip() for x in lines if x.startswith("model name")),
        platform.machine(),
    )
