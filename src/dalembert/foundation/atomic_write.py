"""Every file that is written appears whole or not at all, and what was there before stays until
then.

A file is written under another name in its folder, flushed to the disk and only then given its
name; where that fails nothing is left behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from dalembert.errors import Unwritable


@contextlib.contextmanager
def atomic_replace(
    path: str | os.PathLike[str], advice: str = "name another place"
) -> Iterator[Path]:
    """Where to write what becomes the file `path` when all of it is there; the ending of the
    name is kept.
    """
    if not isinstance(path, str | os.PathLike):
        msg = f"a file is given by its name, not by {path!r:.60}"
        raise Unwritable(msg)
    try:
        given = Path(path)
        if given.exists() and not given.is_file():
            # a pipe or a terminal is written to as it is
            yield given
            return
        target = given.resolve()
        temporary = _create_temporary(target)
        try:
            yield temporary
            _commit(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        what = f"cannot write {os.fspath(path)}: {problem.strerror or problem}"
        refusal = Unwritable(f"{what}; {advice}")
        refusal.what = what
        raise refusal from problem


def write_text(path: str | os.PathLike[str], text: str, remedy: str = "name another place") -> Path:
    """A text as a file, in UTF-8 and with its line ends as they are."""
    with atomic_replace(path, remedy) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
    return Path(path)


def check_extension(path: str | os.PathLike[str], endings: tuple[str, ...]) -> None:
    """Refuse a name whose ending does not give the format."""
    name = Path(path).name
    if not name.lower().endswith(endings):
        msg = f"{name}: the ending decides on the format; give one of {', '.join(endings)}"
        raise Unwritable(msg)


def _create_temporary(target: Path) -> Path:
    """A new empty file in the folder of the target."""
    part = target.with_name(f".{os.urandom(6).hex()}{target.suffix[:20]}")
    part.touch(exist_ok=False)
    if target.exists():
        with contextlib.suppress(OSError):
            part.chmod(stat.S_IMODE(target.stat().st_mode))
    return part


def unused_path(name: str) -> str:
    """pendulum.svg, or pendulum-2.svg where that is there already: a default name overwrites
    nothing.
    """
    path, number = Path(name), 2
    while path.exists():
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
        number += 1
    return str(path)


def _commit(part: Path, target: Path) -> None:
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    # the new name is on the disk when its folder is; not every system can be asked for that
    with contextlib.suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def slug(title: str) -> str:
    """Double pendulum → double-pendulum"""
    return re.sub(r"[^\w]+", "-", title.lower())[:60].strip("-_") or "plot"
