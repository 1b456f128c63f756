"""`dataclass` as in the standard library; its methods are generated when a class is first used.

The standard decorator writes and compiles up to six functions for each class. A first simulation
imports 160 of these classes and creates objects of a third of them: generating the methods of the
others is a fifth of the time until the first result.

Descriptors take the places of the methods. The first access to one of them (an object is created,
compared or printed, or `dataclasses.fields`, `inspect.signature` or `match` reads the class)
applies the standard decorator to a copy, whose methods replace all descriptors of the class.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any, Final

from dalembert.foundation.caching import reacquire_after_fork

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - it is exported from here
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The decorator of the standard library with the same options."""
        if options.keys() & _IMMEDIATE:
            return dataclasses.dataclass(cls, **options)
        if cls is None:
            return lambda decorated: _defer(decorated, options)
        return _defer(cls, options)


# these make another class, or check its contents
_IMMEDIATE: Final = frozenset({"slots", "order"})
_ALWAYS: Final = ("__init__", "__match_args__", "__dataclass_fields__", "__dataclass_params__")
_PENDING: Final = "_pending_dataclass"
# its own lock, under which no other is taken: an object may be created while any other lock is held
_LOCK: Final = threading.RLock()
reacquire_after_fork(_LOCK)


class _Deferred:
    """A method or table that the standard decorator has yet to write."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        _complete(self.owner)
        if self.name not in self.owner.__dict__:
            return getattr(super(self.owner, kind if instance is None else instance), self.name)
        attribute = self.owner.__dict__[self.name]
        bind = getattr(type(attribute), "__get__", None)
        return attribute if bind is None else bind(attribute, instance, self.owner)


def _defer(cls: type, options: dict[str, Any]) -> type:
    """The class with a descriptor in place of everything that will be generated."""
    names = list(_ALWAYS)
    if options.get("repr", True):
        names.append("__repr__")
    if options.get("eq", True):
        names += ["__eq__", "__hash__"]
    if options.get("frozen", False):
        names += ["__setattr__", "__delattr__"]
    names = [name for name in names if name not in cls.__dict__ or _is_implied(cls, name)]
    setattr(cls, _PENDING, (options, names))
    for name in names:
        setattr(cls, name, _Deferred(cls, name))
    return cls


def _is_implied(cls: type, name: str) -> bool:
    """Whether Python itself wrote __hash__ = None, because the class has __eq__."""
    return name == "__hash__" and cls.__dict__["__hash__"] is None


def _complete(cls: type) -> None:
    """Generate the methods of a class, after those of its base classes.

    They are generated on a copy and replace the descriptors one at a time, so that at every moment
    each name has its descriptor or its method: another thread may be creating an object.
    """
    with _LOCK:
        for base in reversed(cls.__mro__):
            if _PENDING in base.__dict__:
                options, names = base.__dict__[_PENDING]
                _generate(base, options, names)
                delattr(base, _PENDING)


def _generate(cls: type, options: dict[str, Any], names: list[str]) -> None:
    """Replace the descriptors by what the standard decorator writes for a copy of the class."""
    dropped = {*names, _PENDING, "__dict__", "__weakref__"}
    members = {name: value for name, value in cls.__dict__.items() if name not in dropped}
    copy = type(cls)(cls.__name__, cls.__bases__, members)
    # a base class that decorates its subclasses has decorated the copy too
    for name in [n for n, x in vars(copy).items() if isinstance(x, _Deferred) or n == _PENDING]:
        delattr(copy, name)
    generated = dataclasses.dataclass(**options)(copy).__dict__
    for name in names:
        if name in ("__setattr__", "__delattr__"):
            # the standard one refers to the class that it was generated for
            setattr(cls, name, _refuse_assignment(cls, name))
        elif name in generated:
            setattr(cls, name, generated[name])
        else:
            delattr(cls, name)


def _refuse_assignment(cls: type, name: str) -> Any:
    """__setattr__ or __delattr__ of a frozen class."""
    verb = "assign to" if name == "__setattr__" else "delete"

    def refuse(self: Any, field: str, *value: Any) -> None:
        if type(self) is cls or field in cls.__dataclass_fields__:  # type: ignore[attr-defined]
            msg = f"cannot {verb} field {field!r}"
            raise dataclasses.FrozenInstanceError(msg)
        getattr(super(cls, self), name)(field, *value)

    return refuse
