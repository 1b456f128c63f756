"""What an impact did: its state, its law, and the mode and impulses of each phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.contact_model import ContactQuantities
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ContactMode
from dalembert.runtime.simulation.events.impact_law import ImpactRows


class ImpactPhase(NamedTuple):
    """One solution of the laws of contact in an impact: the whole of it by Newton's law,
    compression or expansion by Poisson's.
    """

    candidates: tuple[ContactCandidate, ...]
    modes: tuple[ContactMode, ...]
    lam: FloatArray


class ImpactRecord(NamedTuple):
    """An impact at the state y: contacts with their normal rows, coefficients of restitution as
    used and as given, its phases and the impulses in total.
    """

    y: FloatArray
    q: ContactQuantities
    rows: tuple[tuple[int, int], ...]
    # the contact of each candidate
    numbers: tuple[int, ...]
    e: FloatArray
    given_e: FloatArray
    phases: tuple[ImpactPhase, ...]
    total: FloatArray
    # Λ·v + ½ Λ·A Λ
    energy: float
    # whether bounces were passed to their limit
    limit: bool = False

    @property
    def poisson(self) -> bool:
        """Whether there was an expansion after the compression."""
        return len(self.phases) > 1

    @property
    def presses_by_constraints(self) -> bool:
        """Whether a constraint force presses a friction in the expansion: the derivative of that
        impulse is not known.
        """
        return self.poisson and any(
            c.pressed is not None and c.pressed.any() for c in self.phases[1].candidates
        )


def impact_rows(q: ContactQuantities, rows: Sequence[tuple[int, int]], e: FloatArray) -> ImpactRows:
    """What the law of impact needs, or its derivative: `e` is given by contacts, and used along the
    normals of those that take part.
    """
    e_rows = np.zeros(len(q.v))
    for k, n in rows:
        e_rows[n] = e[k]
    return ImpactRows(q.A, q.v, e_rows)
