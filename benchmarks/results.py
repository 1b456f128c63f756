"""What a run found: rows of timings with ratios, goals met or missed, checks passed or failed; written as Markdown."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure import Timing

PACKAGES = ("dalembert", "numpy", "llvmlite", "sympy", "scipy", "pydy", "pin", "mujoco", "casadi", "heyoka")
METHOD = (
    "Seconds are the least of several rounds, in which the tools take turns, each on one thread. Noise is how far the middle round "
    "lies above the least. ÷ dalembert is a tool's CPU time divided by that of the first row of its block, so more than 1 is slower. "
    "Goals are judged on CPU time; a goal missed is a row here and nothing else, a check failed is a mistake."
)
_HEADERS = ("what", "tool", "CPU", "wall", "noise", "÷ dalembert", "goal")


@dataclass(frozen=True)
class Within:
    """A goal: at most so many seconds of CPU time."""

    seconds: float

    def judge(self, timing: Timing, _ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return f"≤ {seconds(self.seconds)}", seconds(timing.cpu), timing.cpu <= self.seconds


@dataclass(frozen=True)
class Slower:
    """A goal: this tool takes at least so many times as long as dalembert."""

    factor: float

    def judge(self, _timing: Timing, ratio: float) -> tuple[str, str, bool]:
        """The goal, what was found, and whether it is met."""
        return f"≥ {self.factor:g}×", f"{ratio:.3g}×", ratio >= self.factor


Goal = Within | Slower


@dataclass
class Report:
    """The sections of a run in order; what is added is shown as progress at once."""

    group: str = ""
    lines: list[str] = field(default_factory=list)
    goals: list[tuple[str, str, str, bool]] = field(default_factory=list)
    checks: list[tuple[str, str, bool]] = field(default_factory=list)
    _block: list[Sequence[str]] = field(default_factory=list)

    def section(self, title: str, note: str) -> None:
        """Begin a section."""
        self._end_block()
        self.group = title.lower()
        self.lines += [f"## {title}", "", note, ""]

    def progress(self, what: str) -> None:
        """Say what is being measured now."""
        print(f"  {self.group}: {what} ...", file=sys.stderr, flush=True)

    def compare(self, what: str, timings: Mapping[str, Timing | str], goals: Mapping[str, Goal] | None = None) -> None:
        """A block of rows, the first of them dalembert's own; words instead of a timing say why there is none."""
        first = next(iter(timings.values()))
        for tool, timing in timings.items():
            if isinstance(timing, str):
                self._block.append((what, tool, timing, "", "", "", ""))
                continue
            ratio = timing.cpu / first.cpu if isinstance(first, Timing) else float("nan")
            shown = "" if timing is first else f"{ratio:.3g}"
            goal = self._judged(what, tool, timing, ratio, (goals or {}).get(tool))
            self._block.append((what, tool, seconds(timing.cpu), seconds(timing.wall), f"{timing.noise:.0%}", shown, goal))

    def _judged(self, what: str, tool: str, timing: Timing, ratio: float, goal: Goal | None) -> str:
        if goal is None:
            return ""
        wanted, found, met = goal.judge(timing, ratio)
        self.goals.append((f"{self.group}: {what}, {tool}", wanted, found, met))
        return f"{wanted} {'met' if met else '**missed**'}"

    def judge(self, what: str, wanted: str, found: str, *, met: bool) -> None:
        """A goal that is not a row of timings."""
        self.goals.append((f"{self.group}: {what}", wanted, found, met))

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
        goals = [(what, wanted, found, "met" if met else "**missed**") for what, wanted, found, met in self.goals]
        checks = [(what, found, "passed" if passed else "**failed**") for what, found, passed in self.checks]
        parts = ["# Benchmarks", "", METHOD, "", *markdown(("", "this run"), _environment()), ""]
        if goals:
            parts += ["## Goals", "", *markdown(("goal", "wanted", "found", ""), goals), ""]
        if checks:
            parts += ["## Checks", "", *markdown(("check", "found", ""), checks), ""]
        return "\n".join([*parts, *self.lines])


def seconds(x: float) -> str:
    """A time with three digits in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if x >= size:
            return f"{x / size:.3g} {unit}" if x / size < 999.5 else f"{x / size:.0f} {unit}"
    return f"{x / 1e-6:.2g} µs"


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
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), platform.machine())
