"""What one studio holds: its folder, the file that is open, the newest text, and the workshop;
and what the page may ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from dalembert.errors import DalembertError, Unknown
from dalembert.exchange.exports.formats import FORMATS
from dalembert.exchange.modelfile.templates import TEMPLATES
from dalembert.foundation.atomic_write import slug, unused_path, write_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.interface.studio.commands import model_text, write_export, write_page
from dalembert.interface.studio.folder import MODELS, Document, Folder
from dalembert.interface.studio.workshop import LIMIT, Workshop

Answer = dict[str, Any]
UNNAMED: Final = "model.toml"
_PROGRAM: Final = (".py",)


@dataclass(frozen=True)
class Opened:
    """What the studio opens with; `function` names the system of a Python program."""

    document: Document
    function: str = ""


def open_subject(system: str, gallery: Sequence[str], *, limit: float) -> tuple[Folder, Opened]:
    """A model file, file.py:function, or a name of the gallery; a template if nothing is named."""
    path, colon, function = system.rpartition(":")
    if system.lower().endswith(MODELS):
        file = Path(system).expanduser()
        folder = Folder(file.parent)
        if not file.exists():
            return folder, Opened(Document(file.name, TEMPLATES["pendulum"], ""))
        return folder, Opened(folder.read(file.name))
    if colon and path.lower().endswith(_PROGRAM):
        file = Path(path).expanduser()
        folder = Folder(file.parent)
        return folder, Opened(folder.read(file.name, _PROGRAM), function)
    if system and system not in gallery:
        msg = (
            f"{system!r:.80}: give a model file (.toml, .json), file.py:function, or a name "
            f"that "
            f"`dalembert gallery` lists"
        )
        raise Unknown(msg)
    text = model_text(system, limit=limit) if system else TEMPLATES["pendulum"]
    return Folder(Path()), Opened(Document(f"{system}.toml" if system else UNNAMED, text, ""))


class Session:
    """The state behind the page; every method named in `ACTIONS` answers one request."""

    def __init__(
        self, folder: Folder, opened: Opened, gallery: Sequence[str], limit: float = LIMIT
    ) -> None:
        self.folder, self.opened, self.gallery, self.limit = folder, opened, gallery, limit
        self.document, self.draft = opened.document, opened.document.text
        self.workshop = Workshop(limit)

    # ---- the newest text ---------------------------------------------------------------------

    def derive(self, text: str, file: str, principle: str, written: str) -> Iterator[Answer]:
        """The parts of what a text means; the text of a program is run from its file, as it was
        saved. `written` is the time of the text, in milliseconds.
        """
        if not self.workshop.is_newest(float(written) if written.isdigit() else 0.0):
            yield {"part": "dropped"}
            return
        self.draft = text
        if self.opened.function:
            name = f"{self.document.path}:{self.opened.function}"
            try:
                text = model_text(name, limit=self.limit, folder=self.folder.root)
            except DalembertError as problem:
                yield {
                    "part": "faults",
                    "faults": [{"sentence": str(problem), "line": 0, "column": 0, "length": 0}],
                }
                yield {"part": "done"}
                return
            file = UNNAMED
        yield from self.workshop.answer({"text": text, "file": file, "principle": principle})

    @property
    def unsaved(self) -> bool:
        """Whether the newest text differs from the file."""
        return self.draft != self.document.text

    def keep_draft(self) -> Path | None:
        """Write an unsaved text into the folder of its file, so that it is not lost; return its
        path.
        """
        if not self.unsaved:
            return None
        path = Path(self.document.path)
        target = unused_path(str(self.folder.root / f"{path.stem}.unsaved{path.suffix}"))
        return write_text(target, self.draft)

    # ---- files -------------------------------------------------------------------------------

    def state(self) -> Answer:
        """The open file and whether it changed on disk."""
        now = self.folder.stamp(self.folder.root / self.document.path)
        changed = now != self.document.stamp
        return {"document": asdict(self.document), "changed": changed, "gone": changed and not now}

    def begin(self) -> Answer:
        """What the page shows first: the newest text, saved or not."""
        return {
            **self.state(),
            "text": self.draft,
            "program": self.opened.function,
            "folder": str(self.folder.root),
        }

    def names(self) -> Answer:
        """The model files of the folder."""
        return {"names": self.folder.names()}

    def open(self, path: str) -> Answer:
        """Another file, or the same as it is on disk now."""
        program = bool(self.opened.function) and path == self.document.path
        document = self.folder.read(path, _PROGRAM if program else MODELS)
        if not program:
            self.opened = Opened(document)
        return self._shows(document)

    def save(self, path: str, text: str, stamp: str) -> Answer:
        """Write the text; the file appears whole or not at all."""
        program = bool(self.opened.function) and path == self.document.path
        document = self.folder.save(path, text, stamp, _PROGRAM if program else MODELS)
        return self._shows(document)

    def new(self, kind: str) -> Answer:
        """A template, or a system of the gallery, as a text without a file."""
        if kind in TEMPLATES:
            text = TEMPLATES[kind]
        elif kind in self.gallery:
            text = model_text(kind, limit=self.limit)
        else:
            msg = f"no template or system {kind!r:.60}"
            raise Unknown(msg)
        document = Document(
            f"{kind}.toml", text, self.folder.stamp(self.folder.root / f"{kind}.toml")
        )
        self.opened = Opened(document)
        return self._shows(document)

    def _shows(self, document: Document) -> Answer:
        self.document, self.draft = document, document.text
        return {"document": asdict(document), "program": self.opened.function}

    # ---- to take away ------------------------------------------------------------------------

    def page(self, text: str) -> Answer:
        """The page of the text, in the folder of its file."""
        target = unused_path(str(self.folder.root / f"{Path(self.document.path).stem}.html"))
        write_page(self._model(text), self._model_name(), Path(target))
        return {"written": target}

    def export(self, text: str, style: str) -> Answer:
        """The equations for another tool, in a new folder next to the file."""
        if style not in FORMATS:
            msg = f"no format {style!r:.40}; known are {', '.join(FORMATS)}"
            raise Unknown(msg)
        name = f"{slug(Path(self.document.path).stem)}-{style}"
        target = unused_path(str(self.folder.root / name))
        write_export(self._model(text), self._model_name(), style, Path(target))
        return {"written": target}

    def _model(self, text: str) -> str:
        if not self.opened.function:
            return text
        name = f"{self.document.path}:{self.opened.function}"
        return model_text(name, limit=self.limit, folder=self.folder.root)

    def _model_name(self) -> str:
        return UNNAMED if self.opened.function else self.document.path


ACTIONS: Final[Mapping[str, Callable[..., Answer]]] = {
    "begin": Session.begin,
    "state": Session.state,
    "names": Session.names,
    "open": Session.open,
    "save": Session.save,
    "new": Session.new,
    "page": Session.page,
    "export": Session.export,
}
