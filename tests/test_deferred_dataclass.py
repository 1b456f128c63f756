"""The deferred decorator does what that of the standard library does, once a class is used."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import itertools
import pickle
import pkgutil
import sys
import threading
from dataclasses import field

import pytest

import dalembert
from dalembert.foundation import deferred_dataclass
from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True)
class Point:
    """A base class."""

    x: int
    marks: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Named(Point):
    """A class with a default value and a method of its own."""

    name: str = "P"

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Inspected(Point):
    """A class that nobody has created an object of."""

    y: int = 0


@dataclass
class Mutable:
    """It has no hash."""

    x: int


@dataclass(kw_only=True)
class Keywords:
    """All arguments have names; one default is made for each object."""

    required: int
    marks: list[int] = field(default_factory=list)


@dataclass
class Mixed(Mutable):
    """Some arguments have names."""

    y: int = 2
    _: dataclasses.KW_ONLY
    z: int


@dataclass(unsafe_hash=True)
class Tally:
    """A field that is no argument, and one that another method fills."""

    x: int
    marks: tuple[int, ...] = field(init=False, default_factory=tuple)
    last: int = field(init=False)

    def __post_init__(self) -> None:
        self.last = 2 * self.x


@dataclass
class Disordered(Mutable):
    """A class that the standard decorator refuses."""

    y: int = 2
    z: int


class Special(Named):
    """A class without the decorator."""

    def __init__(self) -> None:
        super().__init__(1, [2], "S")


def test_objects_are_created_compared_and_printed() -> None:
    assert "Point(x=1, marks=[])" == repr(Point(1))
    assert Point(1) == Point(1, [5])
    assert Point(1) != Named(1)
    assert {Point(1)} == {Point(1), Point(1)}
    assert ("S", [2]) == (repr(Special()), Special().marks)
    assert Named(3, name="Q") == dataclasses.replace(Named(3), name="Q")
    assert [Named(3), Named(3)] == [pickle.loads(pickle.dumps(Named(3))), copy.deepcopy(Named(3))]


def test_arguments_that_have_names() -> None:
    first, second = Keywords(required=1), Keywords(required=1)
    first.marks.append(3)
    assert ([3], []) == (first.marks, second.marks)
    with pytest.raises(TypeError):
        Keywords(1)
    assert (1, 2, 5) == ((x := Mixed(1, z=5)).x, x.y, x.z)
    with pytest.raises(TypeError, match="'z'"):
        Mixed(1)
    with pytest.raises(TypeError, match="non-default argument 'z' follows default"):
        Disordered(1, 2, 3)


def fresh(cls: type, **options: object) -> tuple[type, type]:
    """The class decorated here and by the standard library, as if never used."""
    members = {k: v for k, v in vars(cls).items() if k in ("__annotations__", "__post_init__")}
    members |= {"x": 3, "name": field(default="P"), "marks": field(default_factory=tuple)}
    members["__annotations__"] = {"x": "int", "name": "str", "marks": "tuple"}
    return tuple(
        d(**options)(type("C", (), dict(members))) for d in (dataclass, dataclasses.dataclass)
    )


@pytest.mark.parametrize(
    "options", [{}, {"frozen": True}, {"unsafe_hash": True}, {"eq": False}, {"kw_only": True}]
)
def test_the_first_and_later_objects_are_those_of_the_standard_library(options: dict) -> None:
    ours, theirs = fresh(Named, **options)
    arguments = [{}, {"x": 5}, {"marks": (1,), "name": "Q"}, {"y": 1}, {"x": 1, "name": "R"}]
    positional = [(), (4,), (4, "S", ()), (1, 2, 3, 4)]
    for _ in range(2 * deferred_dataclass._FEW):
        for given, named in itertools.product(positional, arguments):
            results = []
            for cls in (ours, theirs):
                try:
                    results.append(vars(cls(*given, **named)))
                except TypeError as problem:
                    results.append(str(problem))
            assert results[1] == results[0]


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"unsafe_hash": True}, {"eq": False}])
def test_equality_and_hash_are_those_of_the_standard_library(options: dict) -> None:
    ours, theirs = fresh(Named, **options)
    values = [(), (3, "P", ()), (4,), (3, "Q")]
    for a, b in itertools.product(values, values):
        assert (theirs(*a) == theirs(*b)) is (ours(*a) == ours(*b))
        assert (theirs(*a) != theirs(*b)) is (ours(*a) != ours(*b))
    assert ours() != theirs()
    assert (theirs.__hash__ is None) is (ours.__hash__ is None)
    if ours.__hash__ is not None and options:
        assert ("eq" in options) or hash(theirs(4)) == hash(ours(4))


def test_fields_that_are_no_arguments() -> None:
    for _ in range(2 * deferred_dataclass._FEW):
        assert (3, (), 6) == ((t := Tally(3)).x, t.marks, t.last)
    assert Tally(3) == Tally(3) != Tally(4)
    assert hash(Tally(3)) == hash((3, (), 6))
    with pytest.raises(TypeError, match="marks"):
        Tally(3, marks=())
    assert "Tally(x=3, marks=(), last=6)" == repr(Tally(3))


def test_frozen_objects_refuse_a_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        Named(1).x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del Named(1).x
    Special().other = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="unhashable"):
        hash(Mutable(1))


def test_threads_may_create_the_first_objects_at_the_same_time() -> None:
    def first_objects(cls: type) -> list[object]:
        barrier, created = threading.Barrier(8), []

        def create() -> None:
            barrier.wait()
            created.append(cls(1))

        threads = [threading.Thread(target=create) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return created

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            cls = dataclass(frozen=True)(type("Fresh", (), {"__annotations__": {"x": int}}))
            assert [cls(1)] * 8 == first_objects(cls)
            cls = dataclass(frozen=True)(type("Fresh", (), {"__annotations__": {"x": int}}))
            assert 8 == len(first_objects(cls))
    finally:
        sys.setswitchinterval(interval)


def test_who_looks_at_the_class_finds_it_complete() -> None:
    assert ["x", "marks", "y"] == [each.name for each in dataclasses.fields(Inspected)]
    assert ["x", "marks", "y"] == list(inspect.signature(Inspected).parameters)
    match Inspected(3):
        case Inspected(x):
            assert 3 == x


def test_the_signatures_are_those_of_the_standard_library() -> None:
    fast, count = 0, 0
    for each in decorated_classes():
        options = each.__dict__.get(deferred_dataclass._OPTIONS)
        if options is None or not options.keys() <= deferred_dataclass._PLAIN:
            continue
        fields = deferred_dataclass._simple_fields(each)
        count += 1
        if fields is None:
            continue
        fast += 1
        written = deferred_dataclass._init_function(each, fields, frozen=False)
        standard = dataclasses.make_dataclass(
            each.__name__,
            [
                (f.name, f.type, _field(f))
                for f in each.__dataclass_fields__.values()
                if f._field_type is dataclasses._FIELD
            ],
        )
        ours, theirs = (
            [(p.name, p.kind, repr(p.default)) for p in inspect.signature(x).parameters.values()]
            for x in (written, standard.__init__)
        )
        assert theirs == ours, each
    assert 0.9 * count < fast


def _field(f: dataclasses.Field) -> dataclasses.Field:
    return field(
        init=f.init, default=f.default, default_factory=f.default_factory, kw_only=f.kw_only
    )


def test_every_class_of_the_package_can_be_completed() -> None:
    decorated = decorated_classes()
    assert 20 < len(decorated)
    for each in decorated:
        assert each.__dataclass_fields__ is vars(each)["__dataclass_fields__"]


def decorated_classes() -> list[type]:
    for module in pkgutil.iter_modules(dalembert.__path__, "dalembert."):
        if module.ispkg:
            importlib.import_module(module.name)
    classes = [c for c in _subclasses(object) if c.__module__.startswith("dalembert")]
    return [c for c in classes if "__dataclass_fields__" in vars(c)]


def _subclasses(cls: type) -> list[type]:
    below = [x for x in type.__subclasses__(cls) if x.__module__.startswith("dalembert")]
    return [c for x in below for c in (x, *_subclasses(x))]
