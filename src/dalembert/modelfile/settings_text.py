"""[run], [equilibrium], [linear], [[printed]]: settings as tables of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from dalembert.algebra.scalar import Scalar
from dalembert.modelfile.settings import Settings


def settings_tables(settings: Settings, scalar: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    """[run], [equilibrium], [linear], [[printed]]"""
    for section in ("run", "equilibrium", "linear"):
        table = {k: _plain(v, scalar) for k, v in getattr(settings, section).items() if v not in ({}, [], ())}
        if table:
            yield section, table
    if settings.printed:
        yield (
            "printed",
            [
                {"label": p.label, "residual": p.residual}
                | ({"equals": [list(e) for e in p.equals]} if p.equals else {})
                | ({"by_hand": True} if p.by_hand else {})
                for p in settings.printed
            ],
        )


def _plain(value: Any, scalar: Callable[[Any], Any]) -> Any:
    from dalembert.simulation.events.event import Event, EventAction

    if isinstance(value, Event):
        text = {"expression": value.expression if isinstance(value.expression, str) else scalar(value.expression)}
        if value.action is EventAction.IMPACT:
            e = value.restitution
            text["impact"] = e if isinstance(e, str) else scalar(e)
        elif value.direction != "any":
            text["direction"] = value.direction
        if value.action is EventAction.STOP:
            text["stop"] = True
        if value.changes:
            text["reset"] = {str(k): v if isinstance(v, str) else scalar(v) for k, v in value.changes.items()}
        return text | ({"name": value.name} if value.name else {})
    if isinstance(value, Mapping):
        return {str(k): _plain(v, scalar) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, scalar) for v in value]
    return Decimal(repr(value)) if isinstance(value, float) else scalar(value) if isinstance(value, Scalar) else value
