"""da.export(s, "c"): the equations of a system in the language of another tool."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dalembert.errors import DalembertError, NotASystem, Unknown
from dalembert.exports.contents import Contents, model
from dalembert.exports.formats import FORMATS, Options, chosen_format
from dalembert.exports.names import file_name
from dalembert.exports.writing import write_files
from dalembert.model.system import System
from dalembert.notebook import Shown
from dalembert.states.values import refuse_contacts


class NotExportable(DalembertError):
    """Something that no file of this format can carry."""


@dataclass(frozen=True)
class Export(Shown):
    """The files of an export by name; `str` shows the first, `write` puts all of them in a folder."""

    format: str
    files: Mapping[str, str | bytes] = field(repr=False)

    def __str__(self) -> str:
        text = next((text for text in self.files.values() if isinstance(text, str)), None)
        return text if text is not None else "\n".join(f"{name}: {len(data)} bytes" for name, data in self.files.items())

    def write(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write into a folder, or to one file where there is only one and the path has its ending; the files written."""
        return write_files(self.files, path)


def export(
    system: System,
    format: str,  # noqa: A002 - the word a user looks for
    path: str | os.PathLike[str] | None = None,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    outputs: Sequence[Any] = (),
    events: Sequence[Any] = (),
    linear: bool = False,
    name: str | None = None,
    **options: Any,
) -> Export:
    """The system in another tool's language; `path` writes it there as well.

    values    numbers for constants, which stay parameters
    inputs    expressions that inputs and specified motions are bound to; numbers are their values at the start, and what is not
              named stays an input
    start     the state to begin with, completed as the start of a run is
    outputs   expressions in coordinates, rates, accelerations and inputs
    linear    whether A = ∂ẋ/∂x and B = ∂ẋ/∂w are written too
    name      what files and functions are called, by default after the system

    Further options belong to a format: real="float" for C.
    """
    writer = chosen_format(format)
    if not isinstance(system, System):
        msg = f"export: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    refuse_contacts(system, map(str, inputs or {}))
    if events:
        listed = ", ".join(repr(str(getattr(e, "name", e))) for e in events)
        msg = f"export: the format {format!r} carries no events, so {listed} would be lost; leave events out and handle them in the tool"
        raise NotExportable(msg)
    if isinstance(outputs, str) or not isinstance(outputs, Sequence):
        msg = f"export: outputs={outputs!r:.60}; give a list of expressions"
        raise Unknown(msg)
    wanted = Contents(values=values or {}, inputs=inputs or {}, start=start or {}, outputs=outputs, linear=linear)
    checked = Options.of(format, options)
    called = file_name(system.name) if name is None else _checked(name)
    made = Export(format, writer.files(model(system, wanted), called, checked))
    if path is not None:
        made.write(path)
    return made


def _checked(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        msg = f"export: name={name!r:.60} cannot be the name of functions; use letters, digits and underscores"
        raise Unknown(msg)
    return name


__all__ = ["FORMATS", "Export", "NotExportable", "export"]
