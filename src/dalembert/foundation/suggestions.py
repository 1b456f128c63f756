"""What a name that does not exist was meant to be: attributes of results, options of verbs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Final, ParamSpec, TypeVar

from dalembert.errors import UnknownOption, warn
from dalembert.foundation.renamed_names import OPTIONS
from dalembert.foundation.shared_keywords import keyword_names

P = ParamSpec("P")
R = TypeVar("R")

# what other programs call our options
_FOREIGN_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "values": ("params", "parameters", "param", "constants", "p", "args"),
    "start": ("initial", "initial_conditions", "ics", "x0", "y0", "q0", "state", "initial_state"),
    "rtol": ("tol", "tolerance", "reltol", "eps", "accuracy"),
    "atol": ("abstol",),
    "at": ("start", "state", "t_eval", "times", "tspan", "saveat", "dt", "n", "points"),
    "duration": ("t_end", "tf", "tmax", "t", "T", "time", "until"),
    "integrator": ("method", "solver"),
    "inputs": ("u", "controls", "control", "forces"),
    "max_step": ("step", "h", "dtmax"),
    "about": ("point", "around", "operating_point", "equilibrium"),
    "guess": ("x_guess", "first_guess"),
    "stop": ("terminal", "terminate"),
    "friction": ("mu", "mu_k"),
    "static": ("mu_s",),
    "restitution": ("e", "epsilon", "cor"),
    "value": ("default", "number"),
    "display": ("latex", "tex", "label", "symbol"),
    "rest": ("length", "l0", "free_length", "natural_length"),
}


def suggest_name(name: str, known: Iterable[str]) -> str:
    """A question about the most similar known name, or nothing."""
    import difflib

    close = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean '{close[0]}'?" if close else ""


def attribute_error(thing: object, name: str, hint: str = "") -> AttributeError:
    """The error of an attribute that is not there; of names that programs look for, no more than
    that.
    """
    kind = type(thing).__name__
    article = "an" if kind[0] in "AEIOU" else "a"
    if not hint and not name.startswith("_"):
        hint = suggest_name(name, (x for x in dir(type(thing)) if not x.startswith("_")))
    return AttributeError(
        f"{article} {kind} has no attribute {name!r}{'; ' * bool(hint)}{hint}", name=name
    )


def check_options(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, which says what an option that it does not have was meant to be."""
    known, most = keyword_names(verb)

    @functools.wraps(verb)
    def wrapper(*given: P.args, **options: P.kwargs) -> R:
        if len(given) > most:
            written = ", ".join([*known[:most], *(f"{name}=…" for name in known[most:])])
            msg = (
                f"{verb.__name__}: too many arguments without a name; it is called "
                f"{verb.__name__}({written})"
            )
            raise UnknownOption(msg)
        for old, new in OPTIONS.get(verb.__name__, {}).items():
            if old in options:
                warn(f"{verb.__name__}({old}=…) is now called {new}=…", DeprecationWarning)
                options[new] = options.pop(old)
        for name in options:
            if name not in known:
                raise UnknownOption(_unknown_option(verb.__name__, name, known))
        return verb(*given, **options)

    return wrapper


def suggest_option(name: str, known: tuple[str, ...]) -> str:
    """A question about the option that was meant, by what other programs call it or by its
    letters; or nothing.
    """
    if name in ("unit", "units") and "display" in known:
        return "a unit belongs in a value, '2 kg', or in s.units(x='m');"
    ours = next(
        (ours for ours, theirs in _FOREIGN_OPTIONS.items() if name in theirs and ours in known),
        None,
    )
    return f"did you mean '{ours}'?" if ours else suggest_name(name, known)


def _unknown_option(verb: str, name: str, known: tuple[str, ...]) -> str:
    others = "it has " + ", ".join(known[1:]) if known[1:] else "it has none"
    return f"{verb}: there is no option {name!r}; {suggest_option(name, known) or others}"
