"""Parameters, result and exceptions of a public function for its entry in the reference.

A docstring describes what is particular to a function. Parameters that many functions share are
described here once, and so are those that are plain from the formula in the first line.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import dalembert as da

# {parameter: what it is wherever it occurs}
SHARED = {
    "about": "the point, {name: value}; other values are zero where the constraints allow it",
    "atol": "absolute tolerance of each step",
    "audit": "whether the energy error of the run, or the replay of an optimum, is computed",
    "baumgarte_rate": "rate at which constraint violations decay, with stabilize='baumgarte'",
    "constants": "constants that differ from the description",
    "count": "the number of results, lowest first",
    "direction": "'up', 'down' or 'both': the sign change that counts",
    "drives": "the inputs that are used, by name",
    "duration": "the length of the run in seconds, or a text such as '2 min'",
    "events": "a list of da.event and da.impact",
    "expressions": "expressions of the system, or their texts",
    "extrapolation": "'refuse', 'hold', 'continue' or 'zero' outside the recorded times",
    "frame": "the frame along whose axes the components are given",
    "given": "coordinates, rates or speeds with fixed values",
    "guess": "values near which coordinates are solved for",
    "inputs": "inputs and prescribed motions: numbers, expressions, tables or functions",
    "integrator": "'native', 'taylor', 'rosenbrock', 'auto' or one of SciPy, SUNDIALS and heyoka",
    "kind": "'constant', 'linear' or 'cubic' between the samples",
    "length": "the length",
    "mass": "the mass",
    "max_step": "the largest step",
    "name": "the name of the result, as it is printed",
    "on_progress": "a function that is called with (points, value) as the family grows",
    "outputs": "expressions that become outputs",
    "parameter": "the constant, coordinate, rate or speed that varies, or its name",
    "path": "the name of the file",
    "progress": "whether a progress bar is shown; by default on a terminal",
    "radius": "the radius",
    "rtol": "relative tolerance of each step",
    "run": "a run, as da.simulate returns it",
    "section": "the name of the event that ends a period",
    "seed": "the seed of the random numbers, so that a result can be repeated",
    "stabilize": "'projection', 'baumgarte' or 'none'",
    "start": "initial values of coordinates, rates and speeds; others are solved for or zero",
    "system": "the system",
    "t": "the time of the state",
    "t0": "the time at which the run starts",
    "toward": "the direction n, a unit vector",
    "values": "constants that differ from the description",
    "x": "a number or an expression",
}
# {(function, parameter): what it is there}
PARTICULAR = {
    ("angular_momentum", "about"): "the point P",
    ("bifurcation_diagram", "values"): "the values of the parameter",
    ("delayed", "by"): "the delay, a whole number of intervals",
    ("inertia", "xx"): "moment of inertia about the axis x",
    ("inertia", "yy"): "moment of inertia about the axis y",
    ("inertia", "zz"): "moment of inertia about the axis z",
    ("inertia", "xy"): "product of inertia, −∫ x y dm",
    ("inertia", "yz"): "product of inertia, −∫ y z dm",
    ("inertia", "xz"): "product of inertia, −∫ x z dm",
    ("link", "becomes"): "{name in the next phase: expression in the phase that ends}",
    ("link", "impact"): "positions that stop moving: M(u⁺ − u⁻) = AᵀΛ, A u⁺ = 0",
    ("link", "unilateral"): "those of them that only push: Λ ≥ 0",
    ("optimize", "links"): "da.link between the phases, in their order",
    ("optimize", "most_intervals"): "the largest number of intervals after refinement",
    ("optimize", "most_iterations"): "the largest number of iterations of the solver",
    ("optimize", "solver_options"): "further options of the solver, {name: value}",
    ("optimize", "solver_tolerance"): "the tolerance at which the solver stops",
    ("phase", "duration"): "a number, a pair (shortest, longest), or 'free'",
    ("pade_delay", "name"): "the beginning of the names of the new states",
    ("ring_contact", "axis"): "the axis k of the ring, a unit vector",
    ("rod_inertia", "axis"): "the direction of the rod, a unit vector of its frame",
    ("symmetry", "xi"): "the direction ξ, {coordinate: component}",
    ("tables", "source"): "a CSV file, a dict of columns, a pandas or xarray object",
}
# {exceptions: functions that raise them}; every other refusal is a DalembertError as well
RAISED_BY = {
    ("BadStart", "BadDuration", "BadTolerance", "MissingValue", "RunStopped"): (
        "simulate lyapunov comparison bifurcation_diagram"
    ),
    ("BadStudy", "BadStart", "StudyFailed"): "ensemble",
    ("BadStudy",): "open_study",
    ("BadFit", "BadData"): "fit identify",
    ("BadControl",): "lqr track kalman observer computed_torque noise delayed pade_delay",
    ("BadOptimization",): "optimize phase link",
    ("NoPeriodicMotion",): "periodic continuation poincare_map open_orbit open_family",
    ("NoEquilibrium",): "equilibrium equilibria",
    ("BadLinearPoint",): "linearize linearize_along root_locus model_sensitivity",
    ("NotExportable",): "export to_jax to_casadi",
    ("BadModel", "EngineMissing"): "load",
    ("EngineMissing",): "crosscheck",
    ("NotRebuilt", "Disagreement"): "from_sympy",
    ("CannotRead",): "verify",
    ("NotDriven",): "inverse_dynamics",
    ("BadEvent",): "event impact support_change",
    ("IllPosed", "NotApplicable"): (
        "kane newton_euler jourdain dalembert central_equation gibbs_appell gauss lagrange maggi "
        "boltzmann_hamel hamilton recursive agreement kinematics virtual_work stationary_potential "
        "extended_hamilton galerkin"
    ),
    ("BadExpression",): (
        "sin cos tan exp log sqrt sinh cosh tanh asin acos atan atan2 sign maximum minimum step "
        "pulse saturate evaluate"
    ),
    ("BadDescription",): (
        "inertia rod_inertia disk_inertia sphere_inertia cylinder_inertia box_inertia "
        "ellipsoid_contact ring_contact"
    ),
    ("BadValue",): "table tables sampled",
}


def fields(function: Callable[..., Any]) -> Iterator[str]:
    """Lines of reStructuredText below the docstring of a function."""
    name, text = function.__name__, inspect.getdoc(function) or ""
    for parameter, words in undescribed(function, text).items():
        yield f":param {parameter}: {words}"
    yield f":returns: {_result(function)}"
    for exception in exceptions(name):
        yield f":raises dalembert.{exception}: {_first_line(getattr(da, exception))}"


def undescribed(function: Callable[..., Any], text: str) -> dict[str, str]:
    """{parameter: its description here} of those that the docstring does not name."""
    missing = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and not re.search(rf"\b{p.name}\b", text)
    ]
    name = function.__name__
    return {p: PARTICULAR[name, p] if (name, p) in PARTICULAR else SHARED[p] for p in missing}


def exceptions(name: str) -> tuple[str, ...]:
    """The exceptions that a function raises by name."""
    found = [raised for raised, names in RAISED_BY.items() if name in names.split()]
    return found[0] if found else ("DalembertError",)


def _result(function: Callable[..., Any]) -> str:
    kind = str(inspect.signature(function).return_annotation)
    public = getattr(da, kind, None)
    if kind in {"X", "Any", "Scalar | float"}:
        return "a number for numbers, an expression for expressions, or values by name"
    return f"{kind}: {_first_line(public)}" if public is not None else kind


def _first_line(thing: Any) -> str:
    first = " ".join((thing.__doc__ or "").strip().partition("\n\n")[0].split())
    return re.sub(r"([*|`_\\])", r"\\\1", first)
