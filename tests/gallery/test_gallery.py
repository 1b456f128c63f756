import re
import sys
from dataclasses import FrozenInstanceError, replace
from subprocess import run

import pytest

import dalembert as da
from comparisons import PRINCIPLES, differences, other_terms
from dalembert import gallery
from dalembert.errors import Unknown

WITH_PRINTED = [name for name in gallery.names() if gallery.entry(name).printed]
# no book prints an equation of motion for these: what is compared instead, and where
ELSEWHERE = {
    "andrews-squeezer": "published accelerations, multipliers and the state at 0.03 s, in "
    "tests/truth",
    "appell-hamel": "z̈ = −g/(1 + k²) on the row alone, in tests/principles",
    "bricard": "the published motion, in tests/truth",
    "n-four-bar": "the closed form of the branch of parallelograms, in tests/truth",
    "flexible-pendulum": "the rigid pendulum it tends to, in tests/flexible",
    "hanging-chain": "Bernoulli's frequencies, in tests/flexible",
    "rotating-beam": "published frequencies, in tests/flexible",
    "spatial-chain": "parallel axes are the pendulum of LL76 §5, in tests/books/others",
    "spin-up-beam": "the published manoeuvre, in tests/flexible",
    "whipple-bicycle": "published matrices and eigenvalues, in tests/truth",
}
# multiplied out these have more terms than are ever shown; that they hold is decided exactly all
# the same
TOO_LONG = {("four-bar", "along the loop, by Maggi")}


def shown(e):
    return [p for p in e.printed if (e.name, p.label) not in TOO_LONG]


def test_every_system_is_listed_once_and_in_order():
    assert sorted(set(gallery.names())) == list(gallery.names())
    assert {
        "rolling-disk",
        "cart-and-bar",
        "knife-edge-rod",
        "vehicle",
        "hoist",
        "positioning-device",
    } <= set(gallery.names())


def test_listing_names_imports_no_system():
    code = (
        "import sys; from dalembert import gallery; gallery.names(); print([m for m in "
        "sys.modules if m.startswith('dalembert.gallery.')])"
    )
    assert (
        "['dalembert.gallery.entry']"
        == run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
    )


@pytest.mark.parametrize("name", gallery.names())
def test_entry_says_what_it_is(name):
    e = gallery.entry(name)
    assert name == e.name
    assert e.title
    assert e.source
    assert e.description.endswith(".")
    assert "\n" not in e.description
    with pytest.raises(FrozenInstanceError):
        e.name = "other"


@pytest.mark.parametrize("name", gallery.names())
def test_demo_values_are_names_of_the_system(name):
    e, s = gallery.entry(name), gallery.build(name)
    moving = {i.name for q in s.q for i in (q, q.dot)} | {speed.name for speed in s.speed_list}
    assert set() == {s.expression(key).name for key in e.start} - moving
    assert {x.name for x in s.symbols.values() if x.kind == "input"} == set(e.inputs)
    assert e.duration > 0


@pytest.mark.parametrize("name", gallery.names())
def test_every_constant_has_a_default_and_every_specified_motion_is_bound(name):
    for x in gallery.build(name).symbols.values():
        assert x.kind != "constant" or x.value is not None
        assert x.kind != "specified" or x.motion is not None


def test_only_results_of_works_at_hand_carry_numbers():
    # by key: the works whose text was open when the numbers were typed
    numbered = {
        e.source.partition(" ")[0]
        for e in map(gallery.entry, gallery.names())
        for p in e.printed
        if numbers(p)
    }
    assert {"Bar00", "Gre03", "Mei85"} == numbered


def numbers(p):
    return not isinstance(p, gallery.DerivedByHand) and re.search(r"\(\d+(\.\d+)?\)", p.label)


def test_every_entry_carries_a_printed_result():
    assert set() == set(gallery.names()) - set(WITH_PRINTED) - set(ELSEWHERE)


@pytest.mark.parametrize("principle", PRINCIPLES)
@pytest.mark.parametrize("name", WITH_PRINTED)
def test_printed_results_hold_exactly(name, principle):
    e = gallery.entry(name)
    assert [] == differences(principle(e.build()), e.printed)


@pytest.mark.parametrize("principle", PRINCIPLES)
@pytest.mark.parametrize("name", WITH_PRINTED)
def test_printed_results_have_the_same_terms(name, principle):
    e = gallery.entry(name)
    assert [] == other_terms(principle(e.build()), shown(e))


@pytest.mark.parametrize("name", WITH_PRINTED)
def test_a_changed_sign_is_noticed(name):
    e = gallery.entry(name)
    wrong = [replace(p, residual=f"{p.residual} + {e.build().q[0].name}") for p in e.printed]
    d = da.kane(e.build())
    assert [p.label for p in e.printed] == differences(d, wrong)
    assert [p.label for p in shown(e)] == other_terms(
        d, [p for p in wrong if p.label in {q.label for q in shown(e)}]
    )


def test_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(
        Unknown,
        match=r"^no system named 'roling-disk' in the gallery; did you mean 'rolling-disk'\?$",
    ):
        gallery.entry("roling-disk")
    with pytest.raises(
        Unknown,
        match=f"no system named 'xyzzy' in the gallery; the gallery has {gallery.names()[0]}, ",
    ):
        gallery.build("xyzzy")
