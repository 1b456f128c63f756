"""Panels with curves over one time: what a picture shows, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Okabe and Ito's colours, which everyone can tell apart
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY: Final = "#666666"
MOST_PANELS: Final = 24


@dataclass(frozen=True, eq=False)
class Curve:
    """One quantity over its own times."""

    name: str
    t: Numbers = field(repr=False)
    values: Numbers = field(repr=False)
    colour: str


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share their axes; a symbol as title is set as a book does, anything else as it was written.

    levels   names for the heights 1, 2, … where these say which and not how much
    """

    title: str
    curves: tuple[Curve, ...]
    is_symbol: bool = False
    zero_line: bool = False
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Chart:
    """Panels in columns, one over the whole width below them, one time axis."""

    title: str
    facts: str
    facts_colour: str
    times: tuple[float, float]
    panels: tuple[Panel, ...]
    below: Panel

    @property
    def columns(self) -> int:
        """How many panels stand side by side."""
        return 1 if len(self.panels) <= 4 else 2 if len(self.panels) <= 10 else 3
