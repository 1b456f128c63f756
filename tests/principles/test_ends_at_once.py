"""A derivation holds no cycle: dropped, it is gone at once, without the collector."""

import gc

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES


@pytest.mark.each_time(3)
@pytest.mark.parametrize(("principle", "derive"), PRINCIPLES, ids=lambda x: getattr(x, "name", ""))
def test_a_derivation_that_nobody_keeps_ends_at_once(principle, derive):
    kin = da.kinematics(gallery.build("rolling-disk"))
    # modules that are imported and classes that are completed on first use leave cycles
    for _ in range(2):
        first = derive(kin)
        assert principle is first.principle
        assert first.equations.residuals
    del first
    gc.collect()
    # only what is created from here on is searched
    gc.freeze()
    gc.disable()
    try:
        assert derive(kin).equations.residuals
        assert 0 == gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
