"""A derivation as plain fields, for JSON and for programs."""

from __future__ import annotations

from typing import Any

from dalembert.mechanics.principles.derivation import Derivation


def derivation_fields(derivation: Derivation, *, latex: bool = False) -> dict[str, Any]:
    """System, principle, coordinates, speeds, equations and steps, as texts."""
    equations, kin = derivation.equations, derivation.kinematics
    return {
        "system": kin.system.name,
        "principle": derivation.principle.title,
        "coordinates": [kin.name(q) for q in kin.q],
        "speeds": [kin.name(u) for u in kin.u],
        "equations": equations.latex() if latex else equations.text(),
        "steps": [str(step) for step in derivation.steps],
    }
