"""Intermediates z₁, z₂ … of long expressions never look like a symbol of the model."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.symbolic.algebra.printing.common_subexpressions import unused_prefix
from dalembert.symbolic.algebra.printing.symbol_names import display_name, latex_name, unicode_name


def assert_apart(tape):
    letters = unused_prefix(tape)
    for write in (unicode_name, latex_name):
        of_the_model = {write(display_name(name, tape.displays)) for name in tape.names}
        assert of_the_model.isdisjoint(write(f"{letters}{k}") for k in range(1, 2000))


@pytest.mark.parametrize("name", gallery.names())
def test_apart_in_every_system(name):
    assert_apart(kinematics(gallery.build(name)).tape)


@pytest.mark.parametrize(
    "names", ["z1", "z_1", "z_17 zz_2", "z1 zz3 zzz_4", "z12 z_1_2", "z zz", "zeta_1 z_a"]
)
def test_apart_from_names_that_look_like_intermediates(names):
    s = da.System("hostile")
    s.coordinates(names)
    assert_apart(s.space.tape)


@pytest.mark.parametrize("shown", ["z1", "z_1", "z₁", "z₁₂"])
def test_apart_from_what_is_only_displayed_so(shown):
    s = da.System("hostile")
    s.coordinate("harmless", display=shown)
    assert_apart(s.space.tape)
    assert "zz" == unused_prefix(s.space.tape)


def test_the_dumbbell_keeps_its_own_z():
    assert "zz" == unused_prefix(kinematics(gallery.build("dumbbell")).tape)
    assert "z" == unused_prefix(kinematics(gallery.build("rolling-disk")).tape)
