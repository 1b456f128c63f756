"""Gallery × principles: every applicable principle agrees exactly, and the kinematics they share is
audited.

Both lists are read from their registries: a new principle or a new system joins by being listed
there.
"""

import time
from collections.abc import Iterator

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.agreement_table import Agreement
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES

# operations of any one derivation: what takes more than a moment to derive, read or evaluate
ONE = 10_000


@pytest.fixture(scope="module")
def agreements() -> Iterator[dict[str, Agreement]]:
    """What each system has shown so far; the effort is printed when all are through."""
    found: dict[str, Agreement] = {}
    start = time.process_time()
    yield found
    seconds = time.process_time() - start
    print(  # noqa: T201
        f"\ngallery × principles: {len(found)} systems × {len(PRINCIPLES)} principles in "
        f"{seconds:.1f} s CPU"
    )
    slowest = max(
        (
            (row.seconds, system, row.principle.title)
            for system, a in found.items()
            for row in a.rows
        ),
        default=None,
    )
    if slowest is not None:
        # the effort, to be read
        print("slowest derivation: {1} by {2}, {0:.3f} s CPU".format(*slowest))  # noqa: T201


def agreement(name: str, known: dict[str, Agreement]) -> Agreement:
    if name not in known:
        known[name] = da.agreement(gallery.build(name), compiled=False)
    return known[name]


@pytest.mark.parametrize("name", gallery.names())
def test_every_applicable_principle_agrees_exactly(name, agreements):
    result = agreement(name, agreements)
    assert [] == [row.verdict for row in result.rows if not row.agrees]
    assert 2 <= sum(row.applicable for row in result.rows)
    assert [p.name for p, _ in PRINCIPLES] == [row.principle.name for row in result.rows]
    assert 0 < result.bound < 1e-40


@pytest.mark.parametrize("name", gallery.names())
def test_the_kinematics_is_audited(name, agreements):
    result = agreement(name, agreements)
    assert [] == [f"{f.what} for {f.where}" for f in result.audit if not f.holds]
    bodies = {b.name for b in gallery.build(name).bodies}
    assert bodies <= {f.where for f in result.audit}


@pytest.mark.parametrize("name", gallery.names())
def test_what_does_not_apply_says_why_in_physical_terms(name, agreements):
    for row in agreement(name, agreements).rows:
        if not row.applicable:
            assert len(row.why_not.split()) >= 5, (
                f"{row.principle.title}: {row.why_not!r} is no reason"
            )


@pytest.mark.each_time(16)
@pytest.mark.parametrize("name", gallery.names())
def test_the_compiled_route_agrees(name):
    result = da.agreement(gallery.build(name))
    assert result.compiled is not None
    assert result.compiled.agrees, str(result.compiled)


@pytest.mark.parametrize("name", gallery.names())
def test_no_derivation_swells(name, agreements):
    rows = agreement(name, agreements).rows
    assert [] == [(row.operations, row.principle.title) for row in rows if row.operations > ONE]
