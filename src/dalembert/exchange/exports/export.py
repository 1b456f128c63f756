"""da.export(s, "c"): the equations of a system in the language of another tool."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from dalembert.errors import DalembertError, NotASystem, Unknown, Unwritable
from dalembert.exchange.exports.export_model import ExportRequest, exported_model
from dalembert.exchange.exports.formats import FORMATS, check_options, find_format
from dalembert.exchange.exports.identifiers import file_name
from dalembert.exchange.exports.table_data import check_format
from dalembert.foundation.atomic_write import atomic_replace
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.model.system import System

if TYPE_CHECKING:
    from dalembert.analysis.control.kalman import KalmanFilter


class NotExportable(DalembertError):
    """Something that the format cannot represent."""


@dataclass(frozen=True)
class Export(Displayable):
    """The files of an export by name; `str` shows the first, `write` puts all of them in a
    folder.
    """

    format: str
    files: Mapping[str, str | bytes] = field(repr=False)

    def __str__(self) -> str:
        text = next((text for text in self.files.values() if isinstance(text, str)), None)
        return (
            text
            if text is not None
            else "\n".join(f"{name}: {len(data)} bytes" for name, data in self.files.items())
        )

    def write(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write into a folder, or to one file where there is only one and the path has its
        ending; the files written.
        """
        return _write_files(self.files, path)


def _check_outputs(outputs: object) -> None:
    if isinstance(outputs, str) or not isinstance(outputs, Sequence):
        msg = f"export: outputs={outputs!r:.60}; give a list of expressions"
        raise Unknown(msg)


def export(
    system: System | KalmanFilter,
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
    """The system in another tool's language; `path` writes it there as well. An unscented filter
    of da.kalman is written in C.

    values    numbers for constants, which stay parameters
    inputs    expressions that inputs and prescribed motions are bound to; numbers are their values
              at the start, and what is not named stays an input
    start     the state to begin with, completed as the start of a run is
    outputs   expressions in coordinates, rates, accelerations and inputs
    events    events of da.event that record, stop or reset, in C and in an FMU
    linear    whether A = ∂ẋ/∂x and B = ∂ẋ/∂w are written too
    name      what files and functions are called, by default after the system

    Further options belong to a format: real="float" for C.
    """
    writer = find_format(format)
    if _is_filter(system):
        return _export_filter(system, format, path, name, options)
    if not isinstance(system, System):
        msg = f"export: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    switches = writer.switches and options.get("real", "double") == "double"
    if not switches:
        _refuse_modes(
            system, f"{format!r}{' in single precision' * writer.switches}", inputs, events
        )
    _check_outputs(outputs)
    wanted = ExportRequest(
        values=values or {},
        inputs=inputs or {},
        start=start or {},
        outputs=outputs,
        linear=linear,
        events=tuple(events),
        switches=switches,
    )
    checked = check_options(format, options)
    called = file_name(system.name) if name is None else _check_name(name)
    model = exported_model(system, wanted)
    check_format(format, model.tables)
    made = Export(format, writer.files(model, called, checked))
    if path is not None:
        made.write(path)
    return made


def _refuse_modes(
    system: System, wanted: str, inputs: Mapping[Any, Any] | None, events: Sequence[Any]
) -> None:
    """Refuse contacts and events in a format that does not change modes."""
    can = " or ".join(repr(name) for name, known in FORMATS.items() if known.switches)
    given = set(map(str, inputs or {}))
    for c in system.contacts:
        forces = [str(x.name) for x in c.forces]
        if not given.issuperset(forces):
            msg = (
                f"export: the contact {c.name!r} has modes (open, sticking, slipping), which the "
                f"format {wanted} cannot change; choose {can} in double precision, or give "
                f"{' and '.join(forces)} as inputs"
            )
            raise NotExportable(msg)
    if events:
        listed = ", ".join(repr(str(getattr(e, "name", "") or e)) for e in events)
        msg = (
            f"export: the format {wanted} carries no events, so {listed} would be lost; choose "
            f"{can} in double precision, or handle them in the tool"
        )
        raise NotExportable(msg)


def _is_filter(exported: Any) -> TypeGuard[KalmanFilter]:
    """Whether it is a filter of da.kalman, without opening its chapter for a system."""
    return str(getattr(exported, "kind", "")).endswith("Kalman filter")


def _export_filter(
    estimator: KalmanFilter,
    wanted: str,
    path: str | os.PathLike[str] | None,
    name: str | None,
    options: dict[str, Any],
) -> Export:
    from dalembert.exchange.exports import c_filter

    obstacle = f"give 'c', not {wanted!r}" if wanted != "c" else c_filter.filter_obstacle(estimator)
    if obstacle:
        msg = f"export: a filter cannot be written: {obstacle}"
        raise NotExportable(msg)
    called = file_name(estimator.model.kin.system.name) if name is None else _check_name(name)
    made = Export(wanted, c_filter.files(estimator, called, **check_options(wanted, options)))
    if path is not None:
        made.write(path)
    return made


def _check_name(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        msg = (
            f"export: name={name!r:.60} cannot be the name of functions; use letters, digits "
            f"and "
            f"underscores"
        )
        raise Unknown(msg)
    return name


# ---- files: all are written completely before the first gets its name ----------------


def _write_files(files: Mapping[str, str | bytes], path: str | os.PathLike[str]) -> list[Path]:
    """Write every file, none of them half."""
    if not isinstance(path, str | os.PathLike):
        msg = f"export: give the name of a file or a folder, not {path!r:.60}"
        raise Unwritable(msg)
    places = _target_paths(files, Path(path))
    try:
        for target in places:
            target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        msg = f"cannot write {os.fspath(path)}: {problem.strerror or problem}; name another place"
        raise Unwritable(msg) from problem
    with contextlib.ExitStack() as all_of_them:
        for target, name in places.items():
            part, data = all_of_them.enter_context(atomic_replace(target)), files[name]
            with part.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
    return list(places)


def _target_paths(files: Mapping[str, str | bytes], path: Path) -> dict[Path, str]:
    """{where: which file}: into a folder, or to the path itself where it has the ending of a
    single file.
    """
    if len(files) == 1:
        (name,) = files
        if path.suffix == Path(name).suffix and not path.is_dir():
            return {path: name}
    elif path.suffix and any(Path(name).suffix == path.suffix for name in files):
        listed = ", ".join(files)
        msg = f"cannot write {path}: this format has several files ({listed}); give a folder"
        raise Unwritable(msg)
    return {path / name: name for name in files}


__all__ = ["FORMATS", "Export", "NotExportable", "export"]
