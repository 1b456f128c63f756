"""The files of an export in their places: all are complete beside them before the first is put there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from dalembert.errors import Unwritable
from dalembert.files import replacing


def write_files(files: Mapping[str, str | bytes], path: str | os.PathLike[str]) -> list[Path]:
    """Write every file, none of them half."""
    if not isinstance(path, str | os.PathLike):
        msg = f"export: give the name of a file or a folder, not {path!r:.60}"
        raise Unwritable(msg)
    places = _places(files, Path(path))
    try:
        for target in places:
            target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        msg = f"cannot write {os.fspath(path)}: {problem.strerror or problem}; name another place"
        raise Unwritable(msg) from problem
    with contextlib.ExitStack() as all_of_them:
        for target, name in places.items():
            part, data = all_of_them.enter_context(replacing(target)), files[name]
            with part.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
    return list(places)


def _places(files: Mapping[str, str | bytes], path: Path) -> dict[Path, str]:
    """{where: which file}: into a folder, or to the path itself where it has the ending of a single file."""
    if len(files) == 1:
        (name,) = files
        if path.suffix == Path(name).suffix and not path.is_dir():
            return {path: name}
    elif path.suffix and any(Path(name).suffix == path.suffix for name in files):
        listed = ", ".join(files)
        msg = f"cannot write {path}: this format has several files ({listed}); give a folder"
        raise Unwritable(msg)
    return {path / name: name for name in files}
