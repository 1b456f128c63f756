"""What dalembert says when it must refuse: one family of errors, each in the user's terms."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from dalembert.short_tracebacks import short_lines


class DalembertError(ValueError):
    """Anything dalembert refuses; the message says what, where and how to fix it.

    `elements` are the names of the elements at fault, where it is known which of a description they
    are.
    """

    elements: tuple[str, ...] = ()

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the user's own line and the message."""
        return short_lines(self)


class BadExpression(DalembertError):
    """An expression that cannot be formed: not finite, unknown name, division by zero.

    Of one that was read from text, `column` says where, counted from 1, and `sentence` what is
    wrong without saying where; `what` is the sentence without its `remedy`.
    """

    column: int | None = None
    sentence: str = ""
    what: str = ""
    remedy: str = ""


class BadDescription(DalembertError):
    """An element of a system that is refused at the line that declares it."""


class IllPosed(DalembertError):
    """A description whose elements do not fit together (found when the system is first used)."""

    def __init__(self, message: str, elements: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.elements = tuple(elements)


class NotLinear(DalembertError):
    """An expression that should be linear in certain symbols and is not."""


class NotApplicable(DalembertError):
    """A principle that cannot treat this system, with the physical reason."""


class NotASystem(DalembertError, TypeError):
    """Something else where a System is expected."""


class Unknown(DalembertError):
    """An unknown name."""


class UnknownOption(Unknown, TypeError):
    """An option that a verb does not have."""


class Unwritable(DalembertError):
    """A file that cannot be written; its content is kept. `what` is the message
    without its remedy, where it has one.
    """

    what: str = ""


class MissingPackage(DalembertError):
    """An optional package that is not installed."""


class DalembertWarning(UserWarning):
    """Something that is accepted but deserves a second look."""


def warn(message: str, category: type[Warning] = DalembertWarning) -> None:
    """Warn at the user's own line: the nearest one on the way here that is outside this package."""
    # the standard library offers no other way down the stack
    level, frame = 2, sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and _is_ours(frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(names: dict[str, Any]) -> bool:
    """Whether the variables of a module are those of one of this package."""
    name = names.get("__name__", "")
    return bool(name == "dalembert" or name.startswith("dalembert."))


def import_optional(module: str, feature: str, install: str = "") -> Any:
    """The module, or an error that says what needs its package and how to install it."""
    try:
        return import_module(module)
    except ImportError as problem:
        package = install or module.partition(".")[0]
        msg = (
            f"{feature} needs {module.partition('.')[0]}, which is not installed: pip install "
            f"{package}"
        )
        raise MissingPackage(msg) from problem
