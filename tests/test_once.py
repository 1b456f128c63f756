"""What is made once is made once, whoever asks first; first calls from many threads neither
crash nor change a bit.
"""

import gc
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dalembert as da
import first_calls
from dalembert import gallery
from dalembert.foundation.caching import (
    MAX_ENTRIES,
    PerOwnerCache,
    cached_call,
    paused_collection,
    sparse_collection,
)

SCRIPT = Path(first_calls.__file__)
THREADS = 8


@pytest.mark.parametrize("frozen", [False, True])
def test_objects_of_a_pause_are_old_and_still_collected(frozen):
    class Node:
        pass

    gc.collect()
    if frozen:
        gc.freeze()
    try:
        held = gc.get_freeze_count()
        with paused_collection():
            kept = [[] for _ in range(5000)]
            loop = Node()
            loop.itself, watched = loop, weakref.ref(loop)
            del loop
        old = {id(x) for x in gc.get_objects(2)}
        # what the user froze stays frozen; then nothing is moved
        assert (0 if frozen else len(kept)) == sum(id(x) in old for x in kept)
        assert held == gc.get_freeze_count()
        gc.collect()
        assert watched() is None
    finally:
        gc.unfreeze()


def test_collections_are_sparse_only_inside_and_a_choice_of_the_user_stays():
    before = gc.get_threshold()
    try:
        with sparse_collection(), sparse_collection():
            assert gc.get_threshold()[0] > before[0]
        assert before == gc.get_threshold()
        for chosen in (0, 10**6):
            gc.set_threshold(chosen)
            with sparse_collection():
                assert chosen == gc.get_threshold()[0]
            assert chosen == gc.get_threshold()[0]
        gc.set_threshold(*before)
        with sparse_collection():
            gc.set_threshold(1234)
        assert gc.get_threshold()[0] == 1234
    finally:
        gc.set_threshold(*before)


def test_who_comes_second_waits_for_the_first():
    results = []
    with ThreadPoolExecutor(THREADS) as pool:
        asked = []

        @cached_call
        def long():
            # all the others ask while it is being made
            asked.extend(pool.submit(long) for _ in range(THREADS))
            results.append(object())
            return results[-1]

        first = long()
        assert {first} == {a.result() for a in asked}
    assert [first] == results


class Keeper:
    def __init__(self):
        self.cached_results = {}


def test_each_kind_of_result_has_its_own_store():
    numbers, words, owner = PerOwnerCache[int](), PerOwnerCache[str](), Keeper()
    assert (1, "a", 1) == (
        numbers(owner, "k", lambda: 1),
        words(owner, "k", lambda: "a"),
        numbers(owner, "k", lambda: 2),
    )
    assert 2 == numbers(Keeper(), "k", lambda: 2)


def test_what_was_not_asked_for_the_longest_makes_room():
    results, owner = PerOwnerCache[int](), Keeper()
    for n in range(MAX_ENTRIES + 5):
        results(owner, n, lambda n=n: n)
        # asked for at every turn, so it stays
        assert results(owner, 0, lambda: -1) == 0
    (store,) = owner.cached_results.values()
    assert MAX_ENTRIES == len(store)
    assert {0, MAX_ENTRIES + 4} <= set(store)
    assert 1 not in store


def test_a_system_does_not_grow_with_every_new_input():
    s = gallery.build("cart-and-bar")
    for n in range(MAX_ENTRIES + 8):
        da.simulate(s, 1e-3, start={"theta": 0.5}, inputs={"F": f"{n} + t"}, progress=False)
    assert max(len(store) for store in da.kinematics(s).cached_results.values()) <= MAX_ENTRIES


def test_what_fails_is_made_again():
    tries = []

    @cached_call
    def second_time():
        tries.append(1)
        if len(tries) == 1:
            msg = "not yet"
            raise ValueError(msg)
        return "made"

    with pytest.raises(ValueError, match="not yet"):
        second_time()
    assert "made" == second_time()


def first_calls_in_a_fresh_process(threads, share, systems):
    command = [sys.executable, str(SCRIPT), str(threads), str(share), systems]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert 0 == done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def alone():
    """The results of one thread."""
    return first_calls_in_a_fresh_process(1, 1.0, "own")


def test_every_public_function_is_called():
    assert first_calls.public_functions() == set(first_calls.CALLS)


@pytest.mark.parametrize(
    "calls",
    [("simulate", "fit"), pytest.param((), marks=pytest.mark.slow)],
    ids=["two calls", "all"],
)
def test_no_two_threads_wait_for_one_another(calls):
    """Locks are taken in one order."""
    command = [sys.executable, str(SCRIPT.with_name("lock_order.py")), *calls]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert 0 == done.returncode, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["locks"] > 5
    assert [] == found["cycle"]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "systems"), [(0.25, "own"), (0.25, "shared")])
def test_first_calls_from_eight_threads(alone, share, systems):
    """Each function by one thread or two."""
    assert alone == first_calls_in_a_fresh_process(THREADS, share, systems)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(30))
def test_first_calls_of_everything_from_eight_threads(alone, number):
    """Each function by all threads."""
    assert alone == first_calls_in_a_fresh_process(THREADS, 1.0, ("own", "shared")[number % 2])


@pytest.mark.parametrize(
    "way",
    [
        "spawn",
        pytest.param(
            "fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_processes_started_while_others_run_give_the_same_bits(way):
    expected = first_calls.bits("four-bar")
    with ThreadPoolExecutor(2) as threads, multiprocessing.get_context(way).Pool(2) as pool:
        busy = [threads.submit(first_calls.bits, "double-pendulum") for _ in range(2)]
        assert [expected] * 4 == pool.map(first_calls.bits, ["four-bar"] * 4)
        assert 1 == len({b.result() for b in busy})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_never_inherits_a_lock_that_is_held():
    """Fork while another thread makes something: the child can make things at once."""
    making, forking = threading.Event(), threading.Event()
    os.register_at_fork(before=forking.set)

    @cached_call
    def long():
        making.set()
        forking.wait()

    worker = threading.Thread(target=long)
    worker.start()
    making.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if cached_call(lambda: True)() else 1)
    worker.join()
    assert 0 == os.waitpid(child, 0)[1]
