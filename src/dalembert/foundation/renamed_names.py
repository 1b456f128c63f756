"""Old names of 0.2 that go on working in 0.3, each with a warning that names the new one.

Keywords: deprecation, alias. They go in 0.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dalembert.errors import warn

# {class: {old attribute: new one}}
ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "Agreement": {"counted": "count_text", "witnesses": "external_checks"},
    "BaseParameters": {"grouped": "coefficients", "idle": "unidentifiable"},
    "Body": {"looks": "visuals"},
    "Branch": {"marks": "special_points", "other": "switch_branch"},
    "Comparison": {"lines": "table_rows"},
    "ConstraintAnalysis": {"growth": "growth_vector"},
    "Derivation": {"told": "quantities"},
    "Discretised": {
        "described": "summary",
        "estimates": "truncation_report",
        "turn": "section_rotation",
    },
    "EngineComparison": {"where": "worst_joint", "why_not": "unavailable_reason"},
    "Frame": {"matrix": "dcm_nodes", "carries": "is_ancestor_of", "unit": "unit_axis"},
    "HybridEquations": {"remarks": "notes", "told": "quantities"},
    "InverseDynamics": {"native": "state_function"},
    "Jacobian": {"rest": "bias"},
    "Kinematics": {
        "along_q": "coordinate_rate",
        "first_speed": "speed_offset",
        "held": "sampled_inputs",
        "partials": "partial_velocities",
    },
    "LinearModel": {"last": "last_amplitudes"},
    "Modes": {"proper": "nonstructural"},
    "NativeDynamics": {"one_by_one": "evaluate_each"},
    "Regressor": {"known": "known_loads"},
    "RootLocus": {"changes": "stability_changes"},
    "RowClass": {"integrated": "is_integrated", "word": "kind", "words": "description"},
    "RunIntegrals": {
        "defect_taken_out": "removed_defect",
        "lost": "relative_loss",
        "model_is_right": "is_model_consistent",
        "work_fed_in": "supplied_work",
    },
    "Sensitivity": {"slopes": "derivatives"},
    "Symmetry": {"failed": "failed_conditions"},
    "System": {
        "dropped": "trivial_constraints",
        "expanded": "discretised_elements",
        "field": "gravity_field",
        "frozen": "snapshot",
        "kinetic": "given_kinetic_energies",
        "signature": "cache_key",
        "taken": "used_names",
    },
    "Trajectory": {
        "held": "input_values",
        "seconds": "wall_time",
        "until": "t_end",
        "watched": "declared_events",
    },
}
# {function: {old option: new one}}
OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {"fit": {"most": "max_evaluations"}}


def renamed_attribute(thing: object, name: str) -> str | None:
    """The new name of an attribute that 0.2 called otherwise, with a warning; or nothing."""
    if name.startswith("_"):
        return None
    for kind in type(thing).__mro__:
        new = ATTRIBUTES.get(kind.__name__, {}).get(name)
        if new is not None:
            warn(f"{kind.__name__}.{name} is now called {kind.__name__}.{new}", DeprecationWarning)
            return new
    return None
