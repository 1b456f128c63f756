"""Intermediates z₁, z₂ … of long expressions never look like a symbol of the model."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.symbolic.algebra.printing.common_subexpressions import free_letters
from dalembert.symbolic.algebra.printing.symbol_names import displayed, latex_name, unicode_name


def assert_apart(tape):
    letters = free_letters(tape)
    for write in (unicode_name, latex_name):
        of_the_model = {write(displayed(name, tape.displays)) for name in tape.names}
        assert of_the_model.isdisjoint(write(f"{letters}{k}") for k in range(1, 2000))


@pytest.mark.parametrize("name", gallery.names())
def test_apart_in_every_system(name):
    assert_apart(kinematics(gallery.build(name)).tape)


@pytest.mark.parametrize("names", ["z1", "z_1", "z_17 zz_2", "z1 zz3 zzz_4", "z12 z_1_2", "z zz", "zeta_1 z_a"])
def test_apart_from_names_that_look_like_intermediates(names):
    s = da.System("hostile")
    s.coordinates(names)
    assert_apart(s.space.tape)


@pytest.mark.parametrize("shown", ["z1", "z_1", "z₁", "z₁₂"])
def test_apart_from_what_is_only_displayed_so(shown):
    s = da.System("hostile")
    s.coordinate("harmless", display=shown)
    assert_apart(s.space.tape)
    assert "zz" == free_letters(s.space.tape)


def test_the_dumbbell_keeps_its_own_z():
    assert "zz" == free_letters(kinematics(gallery.build("dumbbell")).tape)
    assert "z" == free_letters(kinematics(gallery.build("rolling-disk")).tape)
