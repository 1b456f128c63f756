"""study.zarr: a study in a file that grows chunk by chunk.

A chunk is written whole and then marked as done, so that whatever ends the study, the same call
resumes from the finished chunks. The file does not record when it was written or how often it was
resumed: a study that was interrupted leaves the file of one that was not.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.analysis.studies.ensemble_plan import EnsemblePlan
from dalembert.analysis.studies.parameter_grid import BadStudy
from dalembert.analysis.studies.result import (
    CAUSE,
    FINISHED,
    MEMBER,
    PENDING,
    ResultChunk,
    decode_reasons,
    flat_dataset,
    require_xarray,
    reshape_to_axes,
)
from dalembert.errors import Unwritable, import_optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DONE: Final = "done"
_REASON: Final = "reason"
_RESUME_HINT: Final = "finished chunks are kept, and the same call resumes the study"
# letters that a file's name may have everywhere
_SAFE: Final = " ()+-,._'"
_CHUNK: Final = "chunk"
# the attribute that keeps the options of a study
COMMAND: Final = "command"


def _zarr() -> Any:
    return import_optional("zarr", "a file of a study", "'dalembert[study]'")


@contextlib.contextmanager
def _wrap_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        msg = f"cannot write {path}: {problem.strerror or problem}; {_RESUME_HINT}"
        raise Unwritable(msg) from problem


class ZarrStore:
    """The file of one study: what is done, room for the rest."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        plan: EnsemblePlan,
        length: int,
        how: str,
        sample: ResultChunk,
    ) -> None:
        if not isinstance(path, str | os.PathLike) or not str(path).endswith(".zarr"):
            msg = f"save = {path!r:.60}: give the name of a file that ends in .zarr"
            raise BadStudy(msg)
        self.path, self.plan, self.how = Path(path), plan, how
        zarr = _zarr()
        if self.path.exists():
            self._check_same_ensemble()
        else:
            with _wrap_write_errors(self.path):
                self._create(length, sample)
        self._group = zarr.open_group(self.path, mode="r+")
        self.length = int(self._group.attrs[_CHUNK])

    @property
    def done_chunks(self) -> NDArray[np.bool_]:
        """Which chunks are there."""
        return np.asarray(self._group[_DONE][:]) > 0

    def _check_same_ensemble(self) -> None:
        """Refuse a file that holds another study, naming what differs."""
        try:
            there = dict(_zarr().open_group(self.path, mode="r").attrs)
        except (OSError, ValueError, KeyError) as problem:
            msg = f"{self.path} exists and is not a file of a study ({problem}); give another name"
            raise BadStudy(msg) from problem
        for name, here in self.plan.fingerprint.items():
            stored = there.get(f"study {name}")
            if stored is None:
                msg = f"{self.path} exists and is not a file of a study; give another name"
                raise BadStudy(msg)
            if stored != here:
                msg = (
                    f"{self.path} holds another study: {name} is {stored or 'nothing'} there, "
                    f"{here or 'nothing'} here; give another name"
                )
                raise BadStudy(msg)

    def _create(self, length: int, sample: ResultChunk) -> None:
        """Everything but the numbers, under a temporary name and then under its own."""
        arrays, count = import_module("dask.array"), len(self.plan.grid)
        chunks = -(-count // length)

        def empty_array(rows: NDArray[Any], fill: float = np.nan) -> Any:
            return arrays.full(
                (count, *rows.shape[1:]), fill, dtype=rows.dtype, chunks=(length, *rows.shape[1:])
            )

        fills = {"outcome": PENDING, CAUSE: 0}
        columns = {
            name: empty_array(rows, fills.get(name, np.nan))
            for name, rows in sample.columns().items()
        }
        flat = flat_dataset(self.plan, columns, self.how)
        flat[_REASON] = (MEMBER, "byte"), empty_array(sample.encode_reasons(), 0)
        flat[_DONE] = "chunk", np.zeros(chunks, dtype=np.uint8)
        flat.attrs[_CHUNK] = length
        part = self.path.with_name(f".{self.path.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        renamed = _quote_names(flat)
        # fill values
        encoding: dict[Any, dict[str, Any]] = {
            name: {"fill_value": np.nan}
            for name, x in renamed.data_vars.items()
            if x.dtype.kind == "f"
        }
        encoding |= {
            _DONE: {"chunks": (1,)},
            **{name: {"fill_value": fill} for name, fill in fills.items()},
        }
        renamed.to_zarr(part, mode="w", compute=False, consolidated=False, encoding=encoding)
        part.rename(self.path)

    def write(self, first: int, chunk: ResultChunk) -> None:
        """The rows of one chunk, and then the mark that they are there."""
        count = len(chunk.outcome)
        flat = flat_dataset(self.plan, chunk.columns(), self.how, first)
        flat[_REASON] = (MEMBER, "byte"), chunk.encode_reasons()
        # what the file has already, for all members
        flat = flat.drop_vars([*flat.coords, *({CAUSE} - set(self._group))])
        with _wrap_write_errors(self.path):
            _quote_names(flat).to_zarr(
                self.path,
                mode="r+",
                region={MEMBER: slice(first, first + count)},
                consolidated=False,
            )
            self._group[_DONE][first // self.length] = 1

    def read(self) -> tuple[Callable[[], Any], Mapping[int, str]]:
        """What gives all of it along one dimension, numbers read when asked for, and the
        reasons.
        """
        flat, reasons = _open_zarr(self.path)
        return functools.partial(flat.copy, deep=False), reasons


def _quote_names(flat: Any) -> Any:
    """With names that a file may have."""
    return flat.rename(
        {
            name: quoted
            for name in flat.variables
            if (quoted := urllib.parse.quote(str(name), safe=_SAFE)) != name
        }
    )


def _open_zarr(path: Path) -> tuple[Any, Mapping[int, str]]:
    flat = require_xarray().open_zarr(path, consolidated=False, chunks=None)
    flat = flat.rename(
        {
            name: plain
            for name in flat.variables
            if (plain := urllib.parse.unquote(str(name))) != name
        }
    )
    rows = np.flatnonzero(~np.isin(flat["outcome"].values, (FINISHED, PENDING)))
    reasons = dict(
        zip(rows.tolist(), decode_reasons(flat[_REASON].isel({MEMBER: rows}).values), strict=True)
    )
    return flat.drop_vars([_REASON, _DONE]), reasons


def open_study(path: str | os.PathLike[str]) -> Any:
    """A saved ensemble as an xarray.Dataset along the varied quantities; unfinished runs have
    no values.
    """
    place = Path(path)
    _zarr()
    try:
        flat, reasons = _open_zarr(place)
        done = reshape_to_axes(flat, reasons)
    except (OSError, KeyError, ValueError) as problem:
        msg = f"{place} cannot be read as a study: {problem or 'something is missing'}"
        raise BadStudy(msg) from problem
    return done


def write_command(path: Path | str, command: str) -> None:
    """Keep the options of a study as JSON, so that one of its runs can be made again."""
    _zarr().open_group(str(path), mode="a").attrs[COMMAND] = command
