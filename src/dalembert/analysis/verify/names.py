"""thdd, theta_ddot, θ̈ → theta'': which symbols of the system a written word means.

A word is a name of the system, a usual spelling of a rate, a name with another mark of its index,
or a product of names without signs between them, if there is one way only to read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from dalembert.analysis.verify.characters import GREEK
from dalembert.foundation.suggestions import suggest_name

_ENDINGS: Final = (
    *(
        ("_ddot", 2),
        ("ddot", 2),
        ("_dd", 2),
        ("dd", 2),
        ("_dot", 1),
        ("dot", 1),
        ("_d", 1),
        ("d", 1),
    ),
    *(("_pp", 2), ("pp", 2), ("_p", 1), ("p", 1)),
)
_INNER: Final = re.compile(r"([^\W\d]+?)_?(ddot|dot|dd|d)_?(\w*\d)")
_LEADING: Final = re.compile(r"(?:dd|d2|d)_?(\w+)")
LONGEST_PRODUCT: Final = 24
# usual short and long names of the same letter
_SHORT: Final = {
    "th": "theta",
    "ph": "phi",
    "al": "alpha",
    "be": "beta",
    "om": "omega",
    "lam": "lambda",
}


class Names:
    """The names of an answer: symbols, quantities, what its own lines define, and --let."""

    def __init__(
        self,
        known: Mapping[str, int],
        moving: Iterable[str],
        quantities: Callable[[str], bool],
        let: Mapping[str, str] | None = None,
    ) -> None:
        self.known, self.moving = dict(known), set(moving)
        self.let = {_key(name): meaning for name, meaning in (let or {}).items()}
        self._quantities = quantities
        self._index: dict[str, str] = {}
        for name in known:
            self._index.setdefault(_key(name), name)
        # a constant lam is printed as λ
        for name in known:
            stem, _, index = name.partition("_")
            if stem in _SHORT:
                self._index.setdefault(_key(_SHORT[stem] + index), name)

    def define(self, name: str, node: int) -> None:
        """A name that a line of the answer defines."""
        self.known[name] = node
        self._index.setdefault(_key(name), name)

    def is_quantity(self, word: str) -> bool:
        """Whether a word that is no symbol names a quantity such as T."""
        return self.name(word) is None and self._quantities(word)

    def is_moving(self, name: str) -> bool:
        """Whether a symbol varies with time."""
        return name in self.moving

    def name(self, word: str) -> str | None:
        """The name of the system that a word without rates means."""
        word = self.let.get(_key(word), word)
        if word in self.known:
            return word
        return self._index.get(_key(word)) or self._index.get(_key(_SHORT.get(word, word)))

    def word(self, word: str, dots: int) -> list[tuple[str, int]] | None:
        """[(name, number of dots)], the factors of a word; None where it is unknown."""
        if "'" in word:
            return self._pieces(word, dots)
        single = self.single(word)
        if single is not None:
            return [(single[0], single[1] + dots)]
        if self._quantities(word):
            return [(word, dots)]
        factors = self._product(word)
        if factors is None:
            return None
        *first, (last, own) = factors
        return [*first, (last, own + dots)]

    def single(self, word: str) -> tuple[str, int] | None:
        """(name, dots) of one symbol in any of the usual spellings."""
        name = self.name(word)
        if name is not None:
            return name, 0
        for ending, dots in _ENDINGS:
            stem = self.name(word.removesuffix(ending)) if word.endswith(ending) else None
            if stem in self.moving:
                return stem, dots
        inner = _INNER.fullmatch(word)
        stem = self.name(f"{inner[1]}_{inner[3]}") if inner else None
        if inner and stem in self.moving:
            return stem, 2 if inner[2].startswith("dd") else 1
        leading = _LEADING.fullmatch(word)
        stem = self.name(leading[1]) if leading else None
        if leading and word[:2] in ("dd", "d2") and stem in self.moving:
            return stem, 2
        return None

    def _pieces(self, word: str, dots: int) -> list[tuple[str, int]] | None:
        """mlx''θ: primes inside a word end a symbol."""
        factors: list[tuple[str, int]] = []
        for part in re.findall(r"[^']+'*", word):
            body = part.rstrip("'")
            piece = self.word(body, len(part) - len(body))
            if piece is None:
                return None
            factors += piece
        name, own = factors[-1]
        return [*factors[:-1], (name, own + dots)]

    def _product(self, word: str) -> list[tuple[str, int]] | None:
        """mgl as m, g, l: where there is one way only, or one with the fewest factors."""
        if len(word) > LONGEST_PRODUCT:
            return None
        ways: list[list[list[tuple[str, int]]]] = [[[]], *([] for _ in word)]
        for end in range(1, len(word) + 1):
            for start in range(end):
                if not ways[start] or (
                    end < len(word) and word[end] in "_0123456789" and word[end - 1] != "_"
                ):
                    continue
                # an index belongs to its letter: F_theta is no product
                if word[end - 1] == "_" or word[start] == "_":
                    continue
                single = self.single(word[start:end])
                # in a product a rate is spelled in full: d and p are letters
                if single is not None and not (single[1] and word[start:end][-2:-1] != "o"):
                    ways[end] += [[*way, single] for way in ways[start][:2]]
            ways[end] = sorted(ways[end], key=len)[:3]
        whole = ways[-1]
        if not whole or (
            len(whole) > 1 and len(whole[1]) == len(whole[0]) and whole[0] != whole[1]
        ):
            return None
        return whole[0]

    def unknown(self, word: str) -> str:
        """The sentence for a word that means nothing, with the nearest name."""
        if re.match(r"(sin|cos|tan)\d", word):
            return (
                f"'{word[:4]}' has two readings: write {word[:3]}({word[3:]}) or "
                f"{word[:3]}(…)^{word[3]}"
            )
        shown = word if len(word) <= 40 else word[:39] + "…"
        known = [name for name in self.known if name not in ("pi", "t")]
        short = word[:40]
        hint = suggest_name(short, known) or suggest_name(_SHORT.get(short, _greek(short)), known)
        listed = ", ".join(sorted(known)[:12]) + (", …" if len(known) > 12 else "")
        return f"unknown name '{shown}': {hint or f'the system has {listed}'}"


def _greek(word: str) -> str:
    return "".join(GREEK.get(c, c) for c in word)


@lru_cache(maxsize=4096)
def _key(word: str) -> str:
    """theta_1, theta1, θ₁ and θ_{1} are one name."""
    return _greek(word).replace("_", "")
