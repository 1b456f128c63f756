"""dalembert: analytical dynamics from one description.

Describe a mechanical system once; derive its equations of motion by every classical principle,
prove that they agree, set it in motion, and read the derivation.

`__init__.pyi` lists the public names. A chapter is opened when one of its names is first asked for.
"""

import os
import re
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from dalembert.errors import DalembertError, warn
from dalembert.foundation.caching import COMPUTE_LOCK, paused_collection
from dalembert.short_tracebacks import install_hook

# {public name: the module it lives in}
with open(os.path.splitext(__file__)[0] + ".pyi", encoding="utf-8") as _names:
    _HOME = {
        name: module
        for module, name in re.findall(
            r"^from ([\w.]+) import \(?\s*(\w+) as", _names.read(), re.MULTILINE
        )
    }
# how SymPy's names are written here
_THEIRS = {
    "Heaviside": "write da.step(x)",
    "Max": "write da.maximum(a, b)",
    "Min": "write da.minimum(a, b)",
    "Piecewise": "write it as text, 'Piecewise((a, t < 1), (b, True))', or da.step(s.t - 1)*a + …, "
    "or take SymPy's own",
    "Abs": "write abs(x)",
    "cross": "write a.cross(b)",
    "dot": "write a @ b",
    "modes": "they are da.linearize(s, …).modes()",
    "eigenvalues": "they are da.linearize(s, …).eigenvalues",
    "plot": "write da.simulate(s, 10).plot()",
    "Point": "points are defined relative to points: s.O.offset(vector)",
    "ReferenceFrame": "frames are defined relative to frames: s.N.rotated(angle, s.N.z)",
    "deg": "angles in degrees are texts, '30 deg', or 30*da.pi/180",
    "radians": "angles in degrees are texts, '30 deg', or 30*da.pi/180",
    "energy": "they are da.kinetic_energy(s) and da.potential_energy(s); of a run, run.energy",
    "compare": "it is da.comparison(s), and da.agreement(s)",
    "dynamicsymbols": "coordinates are s.coordinates('x theta')",
    "symbols": "constants are s.constants(m=1, l=2)",
}
# {old public name: new one}: the old one is the same object, and warns
_RENAMED = {"Crawling": "NoProgress"}
__all__ = sorted(_HOME)  # noqa: PLE0605 - read from the one list there is


def __getattr__(name: str) -> Any:
    """A public name whose chapter is not open yet."""
    if name in _RENAMED:
        warn(f"da.{name} is now called da.{_RENAMED[name]}", DeprecationWarning)
        return getattr(sys.modules[__name__], _RENAMED[name])
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("dalembert")
        except PackageNotFoundError:
            return "not installed"
    if name not in _HOME:
        raise _no_name(name)
    # two threads that open the same chapter from two sides would wait for one another
    with COMPUTE_LOCK, paused_collection():
        globals()[name] = value = getattr(import_module(_HOME[name]), name)
    return value


def _no_name(name: str) -> AttributeError:
    """The error of a public name that does not exist, with ours for one of SymPy's, or the most
    similar one.
    """
    hint = _THEIRS.get(name, "")
    if not hint and not name.startswith("_"):
        from dalembert.foundation.suggestions import suggest_name

        hint = suggest_name(name, __all__)
    return AttributeError(
        f"module 'dalembert' has no attribute {name!r}{'; ' * bool(hint)}{hint}", name=name
    )


def __dir__() -> list[str]:
    return list(__all__)


class _Package(ModuleType):
    """Opening the chapters `kinematics` and `agreement` must not hide the functions of the same
    names.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
install_hook(DalembertError)
