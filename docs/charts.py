"""Bar charts of benchmarks/results.md as SVG that follows the colours of the page, dark or
light.
"""

from __future__ import annotations

import math
import re
from html import escape

from measured import RESULTS, measurements

MARK = re.compile(r"^<!-- bars: (?P<title>[^\n]+)\n(?P<wanted>.*?)\n-->$", re.DOTALL | re.MULTILINE)
MISSES = "<!-- misses -->"
_UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
_ROW, _NAMES, _BARS, _TIMES = 22, 250, 330, 110


def with_charts(text: str) -> str:
    """The page with a chart for each `<!-- bars: title … -->` and the goals that were missed."""
    text = MARK.sub(lambda match: _figure(match["title"], match["wanted"].splitlines()), text)
    return text.replace(MISSES, _misses()) if MISSES in text else text


def seconds(text: str) -> float | None:
    """A printed time such as `0.37 µs` in seconds; None for a tool that failed."""
    match = re.fullmatch(r"([\d.]+) (s|ms|µs|ns|min)", text)
    return float(match[1]) * _UNITS[match[2]] if match else None


def _figure(title: str, wanted: list[str]) -> str:
    blocks = [
        (what, [(tool, text, seconds(text)) for tool, text, _ in measurements(what)])
        for what in wanted
    ]
    times = [time for _, bars in blocks for _, _, time in bars if time]
    low, high = math.log10(min(times)) - 0.3, math.log10(max(times))
    parts, y = [], 0
    for what, bars in blocks:
        parts.append(f'<text class="task" x="0" y="{y + 15}">{escape(what)}</text>')
        y += _ROW
        for tool, text, time in bars:
            parts.append(
                _bar(tool, text, _BARS * (math.log10(time) - low) / (high - low) if time else 0, y)
            )
            y += _ROW
        y += 6
    words = "; ".join(
        f"{what}: " + ", ".join(f"{tool} {text}" for tool, text, _ in bars) for what, bars in blocks
    )
    width = _NAMES + _BARS + _TIMES
    svg = (
        f'<svg viewBox="0 0 {width} {y}" role="img" '
        f'aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
    caption = f"<figcaption>{escape(title)} (CPU time, logarithmic scale)</figcaption>"
    return f'``````{{raw}} html\n<figure class="bars">{svg}{caption}</figure>\n``````'


def _bar(tool: str, text: str, length: float, y: int) -> str:
    kind = "ours" if tool.startswith("dalembert") else "theirs"
    name = (
        f'<text class="tool" x="{_NAMES - 8}" y="{y + 15}" text-anchor="end">{escape(tool)}</text>'
    )
    bar = (
        f'<rect class="{kind}" x="{_NAMES}" y="{y + 3}" width="{length:.1f}" '
        f'height="{_ROW - 6}" '
        f'rx="2"/>'
    )
    return (
        name
        + bar
        + f'<text class="time" x="{_NAMES + length + 6:.1f}" y="{y + 15}">{escape(text)}</text>'
    )


def _misses() -> str:
    """The goals that the last run missed or could not measure."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in RESULTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and re.search(r"\| (\*\*missed\*\*|not measured) +\|$", line)
    ]
    lines = [
        f"| {goal} | {wanted} | {measured} | {verdict} |"
        for goal, wanted, measured, verdict in rows
    ]
    return "\n".join(["| goal | wanted | measured | verdict |", "|---|---|---|---|", *lines])
