"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dalembert.ode.failures import Unwritable


def write_files(files: Mapping[str, str | bytes], path: str | os.PathLike[str]) -> list[Path]:
    """Write every file, none of them half: all are complete beside their places before the first is put there."""
    if not isinstance(path, str | os.PathLike):
        msg = f"export: give the name of a file or a folder, not {path!r:.60}"
        raise Unwritable(msg)
    places = _places(files, Path(path))
    parts = {target: target.with_name(f".{target.name}.{os.getpid()}.part") for target in places}
    try:
        try:
            for target, part in parts.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                data = files[places[target]]
                part.write_bytes(data.encode() if isinstance(data, str) else data)
            for target, part in parts.items():
                part.replace(target)
        finally:
            for part in parts.values():
                part.unlink(missing_ok=True)
    except OSError as problem:
        msg = f"cannot write {os.fspath(path)}: {problem.strerror or problem}; choose another place"
        raise Unwritable(msg) from problem
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
