"""What a page carries: JSON that no name can break out of, arrays as base64 of little-endian floats, long fragments compressed.

Fragments are unfolded where they are asked for; what is longer than anybody reads is left out, and the command that prints it named.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dalembert.algebra.printing.tree import Factors, Group, Sides, SignedTerms, TooLongToWrite, Tree
from dalembert.page.geometry import quaternions
from dalembert.page.scene import Scene
from dalembert.principles.base import Derivation, Step
from dalembert.report.blocks import Block, Display, FormulaSpan, words
from dalembert.report.html import formulas, html

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


# how thick links are, and how long the longest arrow is, as parts of the system's size
_STICK = 0.014
_ARROW = 0.55
# places that draw their way
_MOST_TRACES = 8
_MOST = 3e38


def script(identity: str, data: Any) -> str:
    """A block of data for the scripts of the page; `<` is written so that no name can end the block."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{identity}">{text}</script>'


def floats(x: Any, kind: str = "<f4") -> str:
    """Numbers in a row, as text."""
    numbers = np.asarray(x, dtype=np.float64)
    if kind == "<f4":
        # beyond the reach of single precision the plot has left the page anyway
        numbers = np.clip(numbers, -_MOST, _MOST)
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")


def whole(x: Any, kind: str) -> str:
    """Whole numbers in a row, as text."""
    return base64.b64encode(np.ascontiguousarray(np.rint(x), dtype=kind).tobytes()).decode("ascii")


def moving(x: Numbers) -> str:
    """One row for each time; a single row for what does not change."""
    still = len(x) and np.ptp(x, axis=0).max() <= 1e-9 * (1.0 + np.abs(x).max())
    return floats(x[:1] if still else x)


def scene_data(s: Scene) -> dict[str, Any]:
    """What the renderer needs."""
    v = s.view
    size = min(v.near, v.far)
    return {
        "t": floats(s.t),
        "bodies": [
            {
                "name": b.name,
                "colour": b.colour,
                "kind": b.solid.kind,
                "mesh": None
                if b.solid.surface is None
                else [whole(32767 * b.solid.surface.corners, "<i2"), whole(b.solid.surface.faces, "<u2")],
                "sizes": [float(x) for x in b.solid.sizes],
                "guessed": b.solid.guessed and b.solid.kind == "sphere",
                "round": b.solid.marked and b.frame is not None,
                "r": _place(s, b.r),
                # the axes of the frame, and those of the solid in it, in columns
                "e": None if b.frame is None else moving(quaternions(b.frame)),
                "turn": b.solid.turn.T.ravel().tolist(),
                "bars": [] if b.outline is None else b.outline.bars.tolist(),
                "plate": [] if b.outline is None else b.outline.plate.tolist(),
            }
            for b in s.bodies
        ],
        "places": [
            {"name": p.name, "r": moving(p.r), "fixed": p.fixed, "joint": p.joint, "named": p.named and _is_given(p.name)} for p in s.places
        ],
        "lines": [{"kind": line.kind, "a": line.a, "b": line.b} for line in s.lines],
        "curves": [{"name": c.name, "thick": c.thick, "r": [moving(x) for x in c.r]} for c in s.curves],
        "hues": s.hues,
        "rails": [rail.ends.tolist() for rail in s.rails],
        "arrows": [{"name": a.name, "kind": a.kind, "at": _place(s, a.at), "v": moving(a.vector)} for a in s.arrows],
        "traces": traced(s),
        "view": {
            "axes": v.axes.tolist(),
            "azimuth": v.azimuth,
            "elevation": v.elevation,
            "centre": v.centre.tolist(),
            "near": v.near,
            "far": v.far,
            "follow": v.follow,
            "ground": v.ground,
            "stick": _STICK * size,
            "arrow": _ARROW * size,
            "force": longest(s, "force") or 1.0,
            "torque": longest(s, "torque") or 1.0,
        },
    }


def _place(s: Scene, r: Numbers) -> int | str:
    """The number of a place, or the numbers themselves where it is none of those."""
    return next((k for k, p in enumerate(s.places) if p.r is r or np.array_equal(p.r, r)), moving(r))


def longest(s: Scene, what: Literal["force", "torque"]) -> float:
    """The largest force or torque along the motion: its arrow is the longest, and the others keep its scale."""
    vectors = [a.vector for a in s.arrows if (a.kind == "torque") == (what == "torque")]
    return max((float(np.linalg.norm(v, axis=1).max(initial=0.0)) for v in vectors), default=0.0)


def traced(s: Scene) -> list[int]:
    """The places that draw their way: contacts, ends of links, masses; at most a few of them."""
    degree = [sum(k in (line.a, line.b) for line in s.lines if line.kind == "link") for k in range(len(s.places))]
    masses = [k for k, p in enumerate(s.places) if any(p.r is b.r for b in s.bodies)]
    ends = [k for k, d in enumerate(degree) if d == 1 and not s.places[k].fixed]
    wanted = list(dict.fromkeys([*s.contacts, *s.tips, *ends, *masses]))
    return [k for k in wanted if not s.places[k].fixed][:_MOST_TRACES]


def _is_given(name: str) -> bool:
    """Names that were chosen by the user, not counted by us."""
    return not (name[:1] == "P" and name[1:].isdigit())


# shorter ones stand in the page as they are
_SHORT: Final = 12_000
# formulas of one display, and intermediates below it, beyond which a page is no place to read them
MOST_LINES: Final = 60
MOST_DEFINITIONS: Final = 120
# quantities of one step of a derivation
MOST_ITEMS: Final = 24


class Packing:
    """Counts the packed fragments of a page, and remembers displays that stand in several places."""

    def __init__(self) -> None:
        self.count = 0
        # displays are kept, so that none is taken for another
        self._written: dict[int, tuple[Display, tuple[str, str]]] = {}

    def written(self, display: Display) -> tuple[str, str]:
        """The lines of a display and its intermediates, written once."""
        if id(display) not in self._written:
            self._written[id(display)] = display, formulas(display)
        return self._written[id(display)][1]

    def html(self, blocks: Iterable[Block]) -> str:
        """Blocks with their lists of intermediates folded; what is long is left to the script."""
        return self._packed(html(blocks, self._folded, self.written))

    def _folded(self, count: str, below: str) -> str:
        """with 12 intermediates, and the formulas below it"""
        return f'<details class="with"><summary>{count}</summary>{self._packed(below)}</details>'

    def _packed(self, html: str) -> str:
        """The fragment itself, or a place that the script fills from a compressed block."""
        if len(html) <= _SHORT:
            return html
        self.count += 1
        packed = base64.b64encode(zlib.compress(html.encode(), 9)).decode("ascii")
        waiting = '<p class="quiet">A long formula: it is unfolded by the script of this page.</p>'
        block = f'<script type="application/octet-stream" id="packed-{self.count}">{packed}</script>'
        return f'<div data-packed="packed-{self.count}">{waiting}</div>{block}'


class Trimming:
    """Steps with at most so many quantities as a page can show, and how many each of them lacks, by its title."""

    def __init__(self) -> None:
        self.missing: dict[str, int] = {}

    def step(self, step: Step) -> Step:
        """The first quantities of a step."""
        if len(step.items) > MOST_ITEMS:
            self.missing[step.title] = len(step.items) - MOST_ITEMS
        return replace(step, items=step.items[:MOST_ITEMS])

    def derivation(self, d: Derivation) -> Derivation:
        """The same for every step of a derivation."""
        return replace(d, told=tuple(map(self.step, d.steps)))


def shortened(blocks: list[Block], command: str) -> list[Block]:
    """The same blocks, with the rest of very long displays counted; `command` prints them all."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Display) and (len(block.lines) > MOST_LINES or len(block.definitions) > MOST_DEFINITIONS):
            found[-1] = replace(block, lines=block.lines[:MOST_LINES], definitions=block.definitions[:MOST_DEFINITIONS])
            missing = max(0, len(block.lines) - MOST_LINES), max(0, len(block.definitions) - MOST_DEFINITIONS)
            parts = [f"{n} more {what}" for n, what in zip(missing, ("lines", "intermediates"), strict=True) if n]
            found.append(words(f"… and {' and '.join(parts)}: too long for a page; {command} prints them all.", quiet=True))
        if isinstance(block, Display) and lacks(block):
            found.append(words(f"… stands for what is too long for a page; {command} prints it.", quiet=True))
    return found


def lacks(display: Display) -> bool:
    """Whether something in its lines was too long to be written."""
    return any(isinstance(line.right, FormulaSpan) and _lacks(line.right.tree) for line in display.lines)


def _lacks(tree: Tree) -> bool:
    """Whether something in it was left out."""
    match tree:
        case TooLongToWrite():
            return True
        case Sides(left) | Group(left):
            return _lacks(left)
        case SignedTerms(parts):
            return any(_lacks(part) for _, part in parts)
        case Factors(factors):
            return any(map(_lacks, factors))
    return False
