"""Which system a program means: a name of the gallery, a model file inside one folder, or the text
of a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from dalembert.errors import Unknown
from dalembert.exchange.modelfile.reader import read_model
from dalembert.interface.api.load import load
from dalembert.mechanics.model.system import System

FILES: Final = (".toml", ".json", ".urdf", ".xml", ".mjcf")
LARGEST: Final = 2**20


class Gallery(Protocol):
    """Systems by name."""

    def names(self) -> tuple[str, ...]:
        """Every name."""

    def build(self, name: str) -> System:
        """The system of a name; another name is refused."""


def system_of(given: str, folder: Path, gallery: Gallery) -> System:
    """The system; Python files are refused, since nothing is executed."""
    text = given.strip()
    if not text:
        msg = (
            "no system is named: give a name of the gallery, a model file in the folder, or the "
            "text of a model in TOML"
        )
        raise Unknown(msg)
    if "\n" in text or "=" in text:
        if len(text) > LARGEST:
            msg = f"the model has {len(text)} characters; at most {LARGEST} are read"
            raise Unknown(msg)
        return read_model(text, "model.json" if text.startswith("{") else "model.toml")
    if text in gallery.names():
        return gallery.build(text)
    if text.lower().endswith(FILES):
        return load(inside(text, folder))
    if text.endswith(".py") or ".py:" in text:
        msg = (
            "Python files are not executed here: give a model file (dalembert convert "
            "file.py:function model.toml) or its text"
        )
        raise Unknown(msg)
    return gallery.build(text)


def inside(path: str, folder: Path) -> Path:
    """The path, if it stays inside the folder."""
    root = folder.resolve()
    try:
        target = (root / path).resolve()
    except (OSError, ValueError) as problem:
        msg = f"{path!r:.80} cannot be a path: {problem}"
        raise Unknown(msg) from None
    if root != target and root not in target.parents:
        msg = f"{path!r:.80} lies outside the folder of this server"
        raise Unknown(msg)
    return target
