"""One WebAssembly module for one run, and the data that its engine reads: motion, start, what is drawn, what may be changed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dalembert.numerics import wasm
from dalembert.numerics.joining import joined
from dalembert.page.live.beginning import beginning
from dalembert.page.live.drawn import bars, outputs, properties
from dalembert.page.live.happenings import happenings
from dalembert.page.live.motion import motion
from dalembert.page.live.reacting import live_reactions
from dalembert.simulation.events.event import Event, EventAction
from dalembert.simulation.trajectory import Trajectory
from dalembert.states.evaluator import Evaluator

if TYPE_CHECKING:
    from dalembert.page.scene import Scene


@dataclass(frozen=True)
class LiveModule:
    """The module as bytes, and the data of its engine."""

    code: bytes = field(repr=False)
    data: dict[str, Any] = field(repr=False)

    @property
    def packed(self) -> str:
        """Compressed, as text."""
        return base64.b64encode(zlib.compress(self.code, 9)).decode("ascii")


def live_module(run: Trajectory, start: Mapping[Any, Any], drawn: Scene | None, events: Sequence[Event] = ()) -> LiveModule:
    """The run of a trajectory that began from `start` and watched for `events`, ready to be run again with other numbers."""
    setting = run.values
    evaluator = Evaluator(setting.kin, setting.numbers, setting.bindings)
    changed = any(e.action in (EventAction.RESET, EventAction.IMPACT) for e in events)
    moves, begins, happens = motion(run, changed_by_events=changed), beginning(run, evaluator, start), happenings(evaluator, events)
    seen, places = outputs(run, drawn, evaluator)
    must, laws = properties(run, drawn, evaluator)
    reacts = live_reactions(run, evaluator)
    parts = (*moves.parts, *begins.parts, *happens.parts, *reacts.parts, seen, must)
    text = joined([*moves.texts, *happens.texts, *(("", part.text) for part in parts)])
    exports = [*moves.exports, *happens.exports, *(name for part in parts for name in (part.name, f"{part.name}.prologue"))]
    tape = setting.kin.tape
    data = {
        **moves.data,
        "parts": {part.name: part.data for part in parts},
        "values": {str(tape.nodes[i][1]): x for i, x in setting.numbers.items()} | happens.restitutions,
        "state": list(run.names),
        "start": begins.data,
        "starts": [vars(f) for f in begins.fields],
        "outputs": places,
        "laws": laws,
        "events": happens.data,
        "reactions": reacts.data,
        "bars": [] if drawn is None else [bars(b, drawn) for b in drawn.bodies],
    }
    return LiveModule(wasm.module(text, exports, optimize=0), data)
