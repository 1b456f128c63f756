"""What an XML file may not do: expand entities, or reach for files outside its folder. Decided before anything opens it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.parsers import expat

from dalembert.errors import BadDescription

_LARGEST: Final = 64 * 2**20
_DEEPEST: Final = 32
# <compiler> attributes that move where files are looked for
_FOLDERS: Final = ("meshdir", "texturedir", "assetdir")


def checked_file(path: str | Path, root: str | Path | None = None) -> tuple[Path, str]:
    """The file and its root element's tag, if it and all that it includes are harmless XML inside `root`.

    `root` is the folder that the file and everything it names must lie in, by default the folder of the file.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        msg = f"load: there is no file {str(path)!r}" if not file.exists() else f"load: {str(path)!r} is a folder; give a file"
        raise BadDescription(msg)
    file = file.resolve()
    folder = file.parent if root is None else Path(root).expanduser().resolve()
    _inside(file, folder, file, "the file itself")
    return file, _check(file, file.parent, folder, 0)


def _check(file: Path, main: Path, folder: Path, depth: int) -> str:
    """Refuse what must not be opened; the tag of the root element. Names are relative to the main file's folder, or to its own."""
    if depth > _DEEPEST:
        msg = f"{file.name}: its includes are nested more than {_DEEPEST} deep; does a file include itself?"
        raise BadDescription(msg)
    elements = _elements(file, _read(file))
    root = elements[0][0]
    here = sorted({file.parent, main})
    moved = [place / e[a] for place in here for tag, e in elements if tag == "compiler" for a in _FOLDERS if e.get(a)]
    for tag, named in _files(elements):
        opened = tag in ("include", "model")
        # a URDF's meshes are opened only to be drawn, and only those inside the folder
        for place in here if opened else [] if root == "robot" else [*here, *moved]:
            other = (place / named).resolve()
            _inside(other, folder, file, f"<{tag}> names {named!r}")
            if opened and other.is_file():
                _check(other, main, folder, depth + 1)
    return root


def _read(file: Path) -> bytes:
    if file.stat().st_size > _LARGEST:
        msg = f"{file.name}: {file.stat().st_size // 2**20} MB of XML is more than any robot needs; it is not read"
        raise BadDescription(msg)
    return file.read_bytes()


def _elements(file: Path, text: bytes) -> list[tuple[str, dict[str, str]]]:
    """Every element with its attributes, the root first.

    A DOCTYPE, which can name other files and let a few lines grow into gigabytes, is refused.
    """
    found: list[tuple[str, dict[str, str]]] = []

    def refuse(*_: object) -> None:
        msg = f"{file.name}: it has a <!DOCTYPE> or declares entities, which a robot does not need; remove them"
        raise BadDescription(msg)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda tag, attributes: found.append((tag, attributes))
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        msg = f"{file.name} is not well-formed XML: {problem}"
        raise BadDescription(msg) from problem
    return found


def _files(elements: list[tuple[str, dict[str, str]]]) -> Iterator[tuple[str, str]]:
    """Every file that an element names, in whichever attribute."""
    for tag, attributes in elements:
        for attribute, value in attributes.items():
            if attribute.startswith("file") and value.strip():
                yield tag, value.strip()


def _inside(file: Path, folder: Path, named_in: Path, what: str) -> None:
    if not file.is_relative_to(folder):
        msg = f"{named_in.name}: {what}, which lies outside {str(folder)!r}; give root= a folder that holds all of its files"
        raise BadDescription(msg)
