"""The files of the studio: those of one folder, read whole and written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dalembert.errors import BadDescription, Unknown, Unwritable
from dalembert.exchange.modelfile.reader import MAX_FILE_BYTES
from dalembert.foundation.atomic_write import write_text
from dalembert.foundation.deferred_dataclass import dataclass

MODELS: Final = (".toml", ".json")
_MOST_FILES: Final = 500


@dataclass(frozen=True)
class Document:
    """The text of a file as it was on disk: `stamp` changes when the file does, and is empty for
    one that is not there.
    """

    path: str
    text: str
    stamp: str


class Folder:
    """A folder whose model files may be opened and saved; nothing outside of it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def place(self, name: str, endings: tuple[str, ...] = MODELS) -> Path:
        """The path of a name inside the folder; links that lead outside are refused."""
        if not name or "\0" in name or not name.lower().endswith(endings):
            msg = f"{name!r:.80}: give a file of this folder that ends in {' or '.join(endings)}"
            raise Unknown(msg)
        path = (self.root / name).resolve()
        if not path.is_relative_to(self.root):
            msg = (
                f"{name!r:.80} is outside of {self.root}; start the studio in the folder of the "
                f"file"
            )
            raise Unknown(msg)
        return path

    def names(self) -> list[str]:
        """The model files of the folder and of those directly in it."""
        found = [p for pattern in ("*", "*/*") for p in self.root.glob(pattern)]
        names = [p.relative_to(self.root).as_posix() for p in found if p.suffix in MODELS]
        return sorted(n for n in names if not n.startswith("."))[:_MOST_FILES]

    def stamp(self, path: Path) -> str:
        """What changes when a file does."""
        try:
            about = path.stat()
        except OSError:
            return ""
        return f"{about.st_mtime_ns}-{about.st_size}-{about.st_ino}"

    def read(self, name: str, endings: tuple[str, ...] = MODELS) -> Document:
        """A file with its stamp."""
        path = self.place(name, endings)
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                msg = (
                    f"{name}: it is larger than any model, at most {MAX_FILE_BYTES // 2**20} "
                    f"MB; "
                    f"it is not read"
                )
                raise BadDescription(msg)
            stamp = self.stamp(path)
            return Document(name, path.read_bytes().decode("utf-8-sig"), stamp)
        except UnicodeDecodeError as problem:
            msg = f"{name}: it is not in UTF-8 (byte {problem.start + 1}); save it in that encoding"
            raise BadDescription(msg) from None
        except OSError as problem:
            msg = f"{name} cannot be read: {problem.strerror or problem}"
            raise BadDescription(msg) from None

    def save(self, name: str, text: str, stamp: str, endings: tuple[str, ...] = MODELS) -> Document:
        """Write a file, unless it is not any more the one that `stamp` belongs to; "*"
        overwrites whatever is there.
        """
        path = self.place(name, endings)
        if stamp not in ("*", self.stamp(path)):
            msg = f"{name} changed on disk since it was opened: nothing was written"
            raise ChangedOnDisk(msg)
        write_text(path, text)
        return Document(name, text, self.stamp(path))


class ChangedOnDisk(Unwritable):
    """A file that somebody else wrote in the meantime."""
