"""What an XML file may not do: expand entities, or reach for files outside its folder. Decided
before anything opens it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.parsers import expat

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass

_MAX_FILE_BYTES: Final = 64 * 2**20
_MAX_INCLUDE_DEPTH: Final = 32
# <compiler> attributes that change the folders in which files are searched
_FOLDERS: Final = ("meshdir", "texturedir", "assetdir")


@dataclass(frozen=True)
class CheckedFile:
    """A file that may be opened, and the tag of its root element."""

    path: Path
    tag: str
    # every file that the reader looks for, absent ones included; None if unknown
    files: tuple[Path, ...] | None


@dataclass(frozen=True)
class _Element:
    tag: str
    attributes: dict[str, str]
    file: Path


def checked_file(path: str | Path, root: str | Path | None = None) -> CheckedFile:
    """The file, if it and all that it includes are harmless XML inside `root`.

    `root` is the folder that the file and everything it names must lie in, by default the folder of
    the file.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        msg = (
            f"load: there is no file {str(path)!r}"
            if not file.exists()
            else f"load: {str(path)!r} is a folder; give a file"
        )
        raise BadDescription(msg)
    file = file.resolve()
    folder = file.parent if root is None else Path(root).expanduser().resolve()
    _require_inside(file, folder, file, "the file itself")
    check = _FileValidator(file.parent, folder)
    tag = check.validate_model(file, 0)
    return CheckedFile(file, tag, tuple(sorted(check.read)) if check.all_found else None)


class _FileValidator:
    """Refuses what must not be opened, and gathers what will be. Names are relative to the main
    file's folder, or to their own file's.
    """

    def __init__(self, main: Path, folder: Path) -> None:
        self.main, self.folder = main, folder
        self.read: set[Path] = set()
        self.all_found = True

    def validate_model(self, file: Path, depth: int) -> str:
        """A file with what it includes, which share their <compiler>; the tag of its root
        element.
        """
        elements = self._elements_with_includes(file, depth)
        urdf = elements[0].tag == "robot"
        moved = [
            f / e.attributes[a]
            for e in elements
            if e.tag == "compiler"
            for a in _FOLDERS
            if e.attributes.get(a)
            for f in self._search_folders(e)
        ]
        # plugins name their files in attributes of their own, and stripped paths differ from the
        # written ones
        self.all_found &= urdf or not any(
            e.tag == "plugin" or e.attributes.get("strippath", "false") != "false" for e in elements
        )
        for e, named in _file_references(elements):
            # a URDF's meshes are opened only to be drawn, and only those inside the folder
            if e.tag == "include" or (urdf and e.tag != "model"):
                continue
            for other in self._candidate_paths(e, named, [] if e.tag == "model" else moved):
                if e.tag == "model" and other.is_file():
                    self.validate_model(other, depth + 1)
        return elements[0].tag

    def _elements_with_includes(self, file: Path, depth: int) -> list[_Element]:
        """The elements of a file, the root first, and of the files it includes."""
        if depth > _MAX_INCLUDE_DEPTH:
            msg = (
                f"{file.name}: its includes are nested more than {_MAX_INCLUDE_DEPTH} deep; "
                f"does "
                f"a file include itself?"
            )
            raise BadDescription(msg)
        self.read.add(file)
        elements = _elements(file, _read_bytes(file))
        for e, named in _file_references([e for e in elements if e.tag == "include"]):
            for other in self._candidate_paths(e, named, []):
                if other.is_file():
                    elements += self._elements_with_includes(other, depth + 1)
        return elements

    def _search_folders(self, e: _Element) -> list[Path]:
        return sorted({e.file.parent, self.main})

    def _candidate_paths(self, e: _Element, named: str, moved: list[Path]) -> list[Path]:
        """Where the reader may look for a file that an element names; all inside the folder."""
        places = [(place / named).resolve() for place in (*self._search_folders(e), *moved)]
        for place in places:
            _require_inside(place, self.folder, e.file, f"<{e.tag}> names {named!r}")
        self.read.update(places)
        self.all_found &= any(place.is_file() for place in places)
        return places


def _read_bytes(file: Path) -> bytes:
    if file.stat().st_size > _MAX_FILE_BYTES:
        msg = (
            f"{file.name}: {file.stat().st_size // 2**20} MB of XML is more than any robot "
            f"needs; it is not read"
        )
        raise BadDescription(msg)
    return file.read_bytes()


def _elements(file: Path, text: bytes) -> list[_Element]:
    """Every element with its attributes, the root first.

    A DOCTYPE, which can name other files and let a few lines grow into gigabytes, is refused.
    """
    elements: list[_Element] = []

    def refuse(*_: object) -> None:
        msg = (
            f"{file.name}: it has a <!DOCTYPE> or declares entities, which a robot does not "
            f"need; remove them"
        )
        raise BadDescription(msg)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda tag, attributes: elements.append(
        _Element(tag, attributes, file)
    )
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        msg = f"{file.name} is not well-formed XML: {problem}"
        raise BadDescription(msg) from problem
    return elements


def _file_references(elements: list[_Element]) -> Iterator[tuple[_Element, str]]:
    """Every file that an element names, in whichever attribute."""
    for e in elements:
        for attribute, value in e.attributes.items():
            if attribute.startswith("file") and value.strip():
                yield e, value.strip()


def _require_inside(file: Path, folder: Path, named_in: Path, what: str) -> None:
    if not file.is_relative_to(folder):
        msg = (
            f"{named_in.name}: {what}, which lies outside {str(folder)!r}; give root= a folder "
            f"that holds all of its files"
        )
        raise BadDescription(msg)
