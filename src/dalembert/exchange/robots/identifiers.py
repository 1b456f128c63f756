"""left-hip.yaw → left_hip_yaw: names that expressions can take, each used once."""

from __future__ import annotations

import keyword
import re
from typing import Final

from dalembert.mechanics.model.name_rules import RESERVED, unused_name

_INVALID_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9_]+")


class IdentifierMap:
    """Gives every name of a file one that can be used in an expression, and remembers both."""

    def __init__(self) -> None:
        self.original: dict[str, str] = {}

    def identifier(self, name: str, fallback: str) -> str:
        """A name for a symbol: as near to the file's as expressions allow; `fallback` where the
        file gives none.
        """
        plain = _INVALID_CHARACTERS.sub("_", name).strip("_")
        if not plain:
            plain = fallback
        if not plain[0].isalpha():
            plain = f"{fallback}_{plain}"
        if plain in RESERVED or keyword.iskeyword(plain):
            plain = f"{plain}_1"
        own = unused_name(plain, self.original)
        self.original[own] = name or own
        return own

    def renamed(self) -> dict[str, str]:
        """{legal name: name in the file} of those that differ."""
        return {new: old for new, old in self.original.items() if new != old}
