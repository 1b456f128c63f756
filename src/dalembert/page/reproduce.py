"""The command and the program that make a page again, and what they were made with."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from shlex import quote
from typing import Any

from dalembert.algebra.printing import source
from dalembert.algebra.scalar import Scalar
from dalembert.page.study import Study, Wish

_PACKAGES = ("dalembert", "numpy", "llvmlite", "python-flint")


def command(wish: Wish) -> str:
    """As a shell takes it."""
    return " ".join(["dalembert report", quote(wish.name), *map(quote, wish.options)])


def program(study: Study) -> str:
    """As Python takes it."""
    wish = study.wish
    lines = ["import dalembert as da"]
    path, colon, function = wish.name.rpartition(":")
    if colon and path:
        lines += ["import runpy", "", f"s = runpy.run_path({path!r})[{function!r}]()"]
    elif wish.name:
        lines += ["from dalembert import gallery", "", f"s = gallery.build({wish.name!r})"]
    else:
        lines += ["", f"s = ...  # {study.system.name!r}, as it was described"]
    given = {"start": wish.start, "values": wish.values, "inputs": {name: _written(x) for name, x in wish.inputs.items()}}
    extra = "".join(f", {name}={dict(x)!r}" for name, x in given.items() if x)
    happening = f", events=gallery.entry({wish.name!r}).events" if wish.events and wish.name and not colon else ""
    lines += [
        f"run = da.simulate(s, {wish.duration!r}{extra}{happening}, rtol={wish.rtol!r}, atol={wish.atol!r})",
        "print(da.agreement(s))",
        "print(run)",
        'da.write_report(s, "report.html", duration=' + f"{wish.duration!r}{extra}{happening})",
    ]
    return "\n".join(lines)


def versions(study: Study) -> list[tuple[str, str]]:
    """Packages, values of the constants, tolerances."""
    wish = study.wish
    found = [(name, _version(name)) for name in _PACKAGES]
    found.append(("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"))
    found += [(s.name, _value(wish.values, s.name, s.value)) for s in study.system.symbols.values() if s.kind == "constant"]
    found += [(name, str(_written(x))) for name, x in wish.inputs.items()]
    found += [("duration", f"{wish.duration:g}"), ("rtol", f"{wish.rtol:g}"), ("atol", f"{wish.atol:g}")]
    return found


def _written(x: Any) -> Any:
    """An input as it can be given again: text that `s.expression` reads for an expression, anything else as it is."""
    return source(x) if isinstance(x, Scalar) else x


def _value(given: Mapping[str, float], name: str, declared: Any) -> str:
    value = given.get(name, declared)
    return "no value" if value is None else f"{float(value):.12g}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
