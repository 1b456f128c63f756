"""Trajectories with more digits than a double holds, each reproduced independently before it was
put here.
"""

import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"


class Published:
    """The samples of one file: the times, and any column of numbers by name."""

    def __init__(self, name: str, last: float = np.inf):
        content = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
        self.reference = content["reference"]
        columns, samples = self.reference.get("columns"), self.reference["samples"]
        rows = [dict(zip(columns, s, strict=True)) for s in samples] if columns else samples
        self._rows = [r for r in rows if float(r["t"]) <= last]
        self.t = self["t"]

    def __getitem__(self, name):
        return np.array([r[name] for r in self._rows], dtype=float)


def difference(actual, expected):
    """The largest difference, relative to the largest value of the column (or to 1 if all are
    smaller).
    """
    return float(np.max(np.abs(actual - expected)) / max(1.0, np.max(np.abs(expected))))


def differences(run, published, names):
    """{quantity of the run: how far it is from the column of that name}."""
    return {ours: difference(run[ours], published[theirs]) for ours, theirs in names.items()}
