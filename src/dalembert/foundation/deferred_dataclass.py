"""`dataclass` as in the standard library; its methods are generated when a class is first used.

The standard decorator writes and compiles up to six functions for each class. A first simulation
imports 160 of these classes and creates objects of a third of them: generating the methods of the
others is a fifth of the time until the first result.

Descriptors take the places of the methods. The first object that is created needs `__init__` alone,
which is written here for fields without special options, in a fifth of the time of all methods. The
first access to another one (an object is compared or printed, or `dataclasses.fields` or `match`
reads the class) applies the standard decorator to a copy, whose methods replace the descriptors.
"""

from __future__ import annotations

import dataclasses
import inspect
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
# kept when the methods are there
_OPTIONS: Final = "_dataclass_options"
# those that change nothing in `__init__`, or what is known here
_PLAIN: Final = frozenset({"frozen", "kw_only", "eq", "repr", "unsafe_hash"})
# its own lock, under which no other is taken: an object may be created while any other lock is held
_LOCK: Final = threading.RLock()
reacquire_after_fork(_LOCK)


class _Deferred:
    """A method or table that the standard decorator has yet to write."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        if self.name == "__init__":
            _complete_init(self.owner)
        else:
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
    setattr(cls, _OPTIONS, options)
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


def _complete_init(cls: type) -> None:
    """Write `__init__` alone, if the standard decorator is not needed for it."""
    with _LOCK:
        options, names = cls.__dict__.get(_PENDING, ({}, []))
        if "__init__" not in names:
            return
        fields = _simple_fields(cls) if options.keys() <= _PLAIN else None
        if fields is None:
            _complete(cls)
            return
        names.remove("__init__")
        frozen = options.get("frozen", False)
        cls.__init__ = _init_function(cls, fields, frozen=frozen)  # type: ignore[misc]


class _SimpleField(NamedTuple):
    """An argument of `__init__`; a `Field` as default has a factory."""

    annotation: str
    default: Any
    by_keyword: bool

    @property
    def is_required(self) -> bool:
        return self.default is dataclasses.MISSING


def _simple_fields(cls: type) -> dict[str, _SimpleField] | None:
    """The arguments by name, with those of base classes first; None if a field has an option that
    is left to the standard decorator.
    """
    fields: dict[str, _SimpleField] = {}
    for base in reversed(cls.__mro__[:-1]):
        if _OPTIONS not in base.__dict__:
            if "__dataclass_fields__" in base.__dict__:
                return None
            continue
        by_keyword = base.__dict__[_OPTIONS].get("kw_only", False)
        for name, annotation in inspect.get_annotations(base).items():
            if not isinstance(annotation, str) or name == "self" or "InitVar" in annotation:
                return None
            if annotation in ("KW_ONLY", "dataclasses.KW_ONLY"):
                by_keyword = True
            elif not annotation.startswith(("ClassVar", "typing.ClassVar")):
                default = getattr(base, name, dataclasses.MISSING)
                if isinstance(default, dataclasses.Field):
                    if not default.init or default.kw_only is True:
                        return None
                    if default.default_factory is dataclasses.MISSING:
                        default = default.default
                if type(default).__hash__ is None:
                    return None
                fields[name] = _SimpleField(annotation, default, by_keyword)
    required = [field.is_required for field in fields.values() if not field.by_keyword]
    return fields if required == sorted(required, reverse=True) else None


class _FactoryMark:
    """What a signature shows for a default that is made for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _FactoryMark()


def _init_function(cls: type, fields: dict[str, _SimpleField], *, frozen: bool) -> Any:
    """The `__init__` of the standard decorator for such fields."""
    in_order = sorted(fields.items(), key=lambda item: item[1].by_keyword)
    values: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    arguments, lines = ["self"], []
    for name, field in in_order:
        if field.by_keyword and "*" not in arguments:
            arguments.append("*")
        value = name
        if isinstance(field.default, dataclasses.Field):
            values[f"_new_{name}"] = field.default.default_factory
            value = f"_new_{name}() if {name} is _FACTORY else {name}"
            arguments.append(f"{name}=_FACTORY")
        elif field.is_required:
            arguments.append(name)
        else:
            values[f"_default_{name}"] = field.default
            arguments.append(f"{name}=_default_{name}")
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines or [" pass"])
    exec(text, values)  # noqa: S102 - as the standard decorator does
    function = values["__init__"]
    function.__qualname__, function.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    function.__annotations__ = {n: f.annotation for n, f in in_order} | {"return": None}
    return function


def _generate(cls: type, options: dict[str, Any], names: list[str]) -> None:
    """Replace the descriptors by what the standard decorator writes for a copy of the class."""
    dropped = {*names, _PENDING, _OPTIONS, "__dict__", "__weakref__"}
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
