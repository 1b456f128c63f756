"""`dataclass` as in the standard library; its methods are generated when a class is first used.

The standard decorator writes and compiles up to six functions for each class. A first simulation
imports 160 of these classes and creates objects of a third of them: generating the methods of the
others is a fifth of the time until the first result.

Descriptors take the places of the methods. Of a class with fields without special options,

- the first objects are initialized by a loop over the fields, later ones by an `__init__` that is
  written here, because compiling it takes the time of thirty such loops;
- `__eq__` and `__hash__` are closures over one getter of all fields, which nothing compiles.

The first access to another method (an object is printed, or `dataclasses.fields` or `match` reads
the class) applies the standard decorator to a copy, whose methods replace the descriptors.
"""

from __future__ import annotations

import dataclasses
import inspect
import threading
from collections.abc import Callable
from functools import partial
from operator import attrgetter
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
# kept when the methods are there
_OPTIONS: Final = "_dataclass_options"
# those that change nothing in `__init__`, or what is known here
_PLAIN: Final = frozenset({"frozen", "kw_only", "eq", "repr", "unsafe_hash"})
# its own lock, under which no other is taken: an object may be created while any other lock is held
_LOCK: Final = threading.RLock()
reacquire_after_fork(_LOCK)


# objects of a class that are initialized by a loop, before its `__init__` is compiled
_FEW: Final = 20


class _Deferred:
    """A method or table that the standard decorator has yet to write."""

    __slots__ = ("fields", "left", "name", "owner")

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name
        self.left, self.fields = _FEW, None

    fields: dict[str, _SimpleField] | None

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        if self.name == "__init__":
            if instance is not None and self._uses_loop():
                return partial(_initialize, self, instance)
            _complete_init(self.owner)
        elif self.name in _COMPARISON:
            _complete_comparison(self.owner)
        else:
            _complete(self.owner)
        if self.name not in self.owner.__dict__:
            return getattr(super(self.owner, kind if instance is None else instance), self.name)
        attribute = self.owner.__dict__[self.name]
        bind = getattr(type(attribute), "__get__", None)
        return attribute if bind is None else bind(attribute, instance, self.owner)

    def _uses_loop(self) -> bool:
        """Whether the next object is initialized by a loop over the fields."""
        self.left -= 1
        if self.fields is None and self.left == _FEW - 1:
            self.fields = _plain_fields(self.owner)
        return self.fields is not None and self.left >= 0


def _initialize(method: _Deferred, instance: Any, *given: Any, **named: Any) -> None:
    """What the written `__init__` does."""
    fields, owner = method.fields, method.owner
    assert fields is not None
    values = _arguments(fields, given, named)
    if values is None:
        # the written function says what is wrong with the arguments
        _complete_init(owner)
        owner.__init__(instance, *given, **named)  # type: ignore[misc]
        return
    assign = object.__setattr__ if owner.__dict__[_OPTIONS].get("frozen", False) else setattr
    for name, value in values:
        assign(instance, name, value)
    if hasattr(owner, "__post_init__"):
        instance.__post_init__()


def _arguments(
    fields: dict[str, _SimpleField], given: tuple[Any, ...], named: dict[str, Any]
) -> list[tuple[str, Any]] | None:
    """The value of each field; None if the arguments do not fit."""
    positional = [
        name for name, field in fields.items() if field.is_argument and not field.by_keyword
    ]
    known = dict(zip(positional, given, strict=False))
    if len(given) > len(positional) or not known.keys().isdisjoint(named):
        return None
    known |= named
    if not all(name in fields and fields[name].is_argument for name in known):
        return None
    values = []
    for name, field in _in_order(fields):
        if name in known:
            values.append((name, known[name]))
        elif field.is_required:
            return None
        elif field.default is dataclasses.MISSING:
            continue
        elif isinstance(field.default, dataclasses.Field):
            values.append((name, _factory(field.default)()))
        else:
            values.append((name, field.default))
    return values


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
        fields = _plain_fields(cls)
        if fields is None:
            _complete(cls)
            return
        names.remove("__init__")
        frozen = options.get("frozen", False)
        cls.__init__ = _init_function(cls, fields, frozen=frozen)  # type: ignore[misc]


_COMPARISON: Final = ("__eq__", "__hash__")


def _complete_comparison(cls: type) -> None:
    """`__eq__` and `__hash__`, if all fields are compared."""
    with _LOCK:
        options, names = cls.__dict__.get(_PENDING, ({}, []))
        if not any(name in names for name in _COMPARISON):
            return
        fields = _plain_fields(cls)
        unsafe = options.get("unsafe_hash", False)
        # the standard decorator refuses to replace a hash
        is_refused = unsafe and _has_hash(cls)
        if fields is None or is_refused or not all(f.is_compared for f in fields.values()):
            _complete(cls)
            return
        equal, key_hash = _comparison(tuple(fields))
        if "__eq__" in names:
            names.remove("__eq__")
            cls.__eq__ = equal  # type: ignore[method-assign] # written here
        if "__hash__" in names:
            names.remove("__hash__")
            has_hash = unsafe or options.get("frozen", False)
            cls.__hash__ = key_hash if has_hash else None  # type: ignore[method-assign, assignment]


def _has_hash(cls: type) -> bool:
    """Whether the class has a hash of its own."""
    own = cls.__dict__.get("__hash__")
    return own is not None and not isinstance(own, _Deferred)


def _comparison(names: tuple[str, ...]) -> tuple[Any, Any]:
    """Equality and hash of the tuple of these fields."""
    key: Callable[[Any], Any]
    if len(names) > 1:
        key = attrgetter(*names)
    else:

        def key(instance: Any) -> tuple[Any, ...]:
            return tuple(getattr(instance, name) for name in names)

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - it becomes this method
        if other.__class__ is self.__class__:
            return key(self) == key(other)
        return NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807 - as above
        return hash(key(self))

    return __eq__, __hash__


class _SimpleField:
    """A field and, in most cases, an argument of `__init__`; a `Field` as default has a factory."""

    __slots__ = ("annotation", "by_keyword", "default", "is_argument", "is_compared")

    def __init__(self, annotation: str, default: Any, *, by_keyword: bool) -> None:
        self.annotation, self.default, self.by_keyword = annotation, default, by_keyword
        self.is_argument = self.is_compared = True
        if isinstance(default, dataclasses.Field):
            self.is_argument = default.init
            self.is_compared = default.compare and default.hash is None
            if default.default_factory is dataclasses.MISSING:
                self.default = default.default

    @property
    def is_required(self) -> bool:
        return self.is_argument and self.default is dataclasses.MISSING


def _plain_fields(cls: type) -> dict[str, _SimpleField] | None:
    """The simple fields, if no option of the class changes its methods."""
    options = cls.__dict__[_OPTIONS]
    return _simple_fields(cls) if options.keys() <= _PLAIN else None


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
                if isinstance(default, dataclasses.Field) and _stays_in_class(default):
                    return None
                field = _SimpleField(annotation, default, by_keyword=by_keyword)
                if not _is_hashable(field.default):
                    return None
                fields[name] = field
    required = [
        field.is_required for field in fields.values() if field.is_argument and not field.by_keyword
    ]
    return fields if required == sorted(required, reverse=True) else None


def _in_order(fields: dict[str, _SimpleField]) -> list[tuple[str, _SimpleField]]:
    """The arguments of `__init__`: those without a name first."""
    return sorted(fields.items(), key=lambda item: item[1].by_keyword)


def _stays_in_class(field: dataclasses.Field[Any]) -> bool:
    """Whether it is left to the standard decorator: a field that is no argument keeps its default
    in the class.
    """
    has_default = field.default is not dataclasses.MISSING
    return field.kw_only is True or (has_default and not field.init)


def _is_hashable(default: Any) -> bool:
    """Whether the standard decorator takes it for a default: a list or a set is shared by all."""
    cls = type(default)
    if isinstance(cls.__dict__.get("__hash__"), _Deferred):
        options, _ = cls.__dict__[_PENDING]
        return bool(options.get("frozen", False) or options.get("unsafe_hash", False))
    return cls.__hash__ is not None


def _factory(field: dataclasses.Field[Any]) -> Callable[[], Any]:
    """What makes the default of each object."""
    assert not isinstance(field.default_factory, dataclasses._MISSING_TYPE)  # noqa: SLF001
    return field.default_factory


class _FactoryMark:
    """What a signature shows for a default that is made for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _FactoryMark()


def _init_function(cls: type, fields: dict[str, _SimpleField], *, frozen: bool) -> Any:
    """The `__init__` of the standard decorator for such fields."""
    in_order = _in_order(fields)
    values: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    arguments, lines = ["self"], []
    for name, field in in_order:
        if field.by_keyword and field.is_argument and "*" not in arguments:
            arguments.append("*")
        value = name
        if isinstance(field.default, dataclasses.Field):
            values[f"_new_{name}"] = field.default.default_factory
            value = f"_new_{name}()"
            if field.is_argument:
                value += f" if {name} is _FACTORY else {name}"
                arguments.append(f"{name}=_FACTORY")
        elif field.is_required:
            arguments.append(name)
        elif not field.is_argument:
            continue
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
    annotations = {n: f.annotation for n, f in in_order if f.is_argument}
    function.__annotations__ = annotations | {"return": None}
    return function


def _generate(cls: type, options: dict[str, Any], names: list[str]) -> None:
    """Replace the descriptors by what the standard decorator writes for a copy of the class."""
    dropped = {*names, _PENDING, _OPTIONS, "__dict__", "__weakref__"}
    if getattr(cls.__dict__.get("__hash__"), "__module__", "") == __name__:
        # the standard decorator refuses to replace the one that is written here
        dropped.add("__hash__")
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
