"""Vectors of a derivation stand in the frame in which they are shortest, and stay the same
vectors.
"""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.report.derivation_steps import LEVELS, quantities
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.interface.report.terminal_renderer import render_text
from dalembert.mechanics.geometry.short_frame import merge_shared_axes, shortest_forms
from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra.exact.zero_test import provably_zero


def lines(d, title, frame=""):
    step = next(step for step in d.steps if step.title == title)
    text = render_text(quantities(step, d, FormulaWriter(frame=frame).on(d.tape)))
    return [" ".join(line.split()) for line in text.splitlines()[1:]]


def test_the_vehicle_in_its_own_frame():
    # Bar00 (47)–(49)
    d = da.kane(gallery.build("vehicle"))
    assert [
        "v of vehicle = u₁ B.x + L u₂ B.y",
        "v of C = (u₁ − h u₂) B.x",
        "v of D = (u₁ + h u₂) B.x",
    ] == lines(d, "Velocities")
    assert [
        "∂v/∂u₁ of vehicle = B.x",
        "∂v/∂u₂ of vehicle = L B.y",
        "∂v/∂u₁ of C = B.x",
        "∂v/∂u₂ of C = −h B.x",
        "∂v/∂u₁ of D = B.x",
        "∂v/∂u₂ of D = h B.x",
    ] == lines(d, "Partial velocities")
    assert ["a of vehicle = (u̇₁ − L u₂²) B.x + (L u̇₂ + u₁ u₂) B.y"] == lines(d, "Accelerations")
    assert ["Ḣ of vehicle = I_G u̇₂ B.z"] == lines(d, "Rates of the angular momenta")


def test_a_reader_names_the_frame():
    d = da.kane(gallery.build("vehicle"))
    assert ["a of vehicle = (u̇₁ − L u₂²) B.x + (L u̇₂ + u₁ u₂) B.y"] == lines(
        d, "Accelerations", "B"
    )
    assert ["ω of vehicle = u₂ N.z"] == lines(d, "Angular velocities", "N")
    assert "−h cos θ N.x − h sin θ N.y" in str(d.explain("brief", frame="N"))
    assert str(d.explain("brief", frame="N")) == str(
        d.explain("brief", frame=d.kinematics.system.N)
    )
    with pytest.raises(da.errors.Unknown, match="frame='C': unknown"):
        d.explain(frame="C")
    with pytest.raises(da.errors.Unknown, match="did you mean 'teach'"):
        d.explain("tech")


def spelled(how):
    """A rigid body in 3-2-1 angles whose speeds are the body components of ω, typed in two ways."""
    s = da.System("body")
    psi, theta, phi = s.coordinates("psi theta phi")
    *_, B = s.N.rotations("zyx", psi, theta, phi, names=["A", "C", "B"])
    s.body("body", s.constant("m"), s.O, B, da.inertia(B, *s.constants("I_1 I_2 I_3")))
    if how == "vector":
        s.speeds(w1=B.w @ B.x, w2=B.w @ B.y, w3=B.w @ B.z)
    else:
        s.speeds(
            w1=phi.dot - psi.dot * da.sin(theta),
            w2=theta.dot * da.cos(phi) + psi.dot * da.cos(theta) * da.sin(phi),
            w3=psi.dot * da.cos(theta) * da.cos(phi) - theta.dot * da.sin(phi),
        )
    return s


@pytest.mark.parametrize("how", ["vector", "angles"])
def test_partial_angular_velocities_are_the_axes_however_the_speeds_are_typed(how):
    # Bar00 after (21)
    assert {"∂ω/∂w₁ of body = B.x", "∂ω/∂w₂ of body = B.y", "∂ω/∂w₃ of body = B.z"} == set(
        lines(da.kane(spelled(how)), "Partial angular velocities")
    )


def test_a_sum_over_frames_stays_where_it_is_shorter():
    # Bar00 (19): each rate about the axis of its own rotation
    d = da.kane(gallery.build("rolling-disk"))
    assert ["ω of disk = φ̇ N.z + θ̇ A.x + ψ̇ B.z"] == lines(d, "Angular velocities")


def test_equal_axes_are_recognised():
    s = gallery.build("vehicle")
    u, N, B = s["u2"], s.N, s.space.frames[1]
    t = s.space.tape.fork()
    v = Vector(t, {N: (t.zero, t.zero, u.i), B: (t.zero, t.zero, t.neg(u.i))})
    assert {} == merge_shared_axes(v).parts
    assert {} == shortest_forms([v], t.fork(), None)[0].parts


@pytest.mark.each_time(2)
@pytest.mark.parametrize("name", ["vehicle", "rolling-disk", "free-body", "gyroscope", "hoist"])
def test_the_shown_vector_is_the_computed_one(name):
    for derive in (da.kane, da.dalembert, da.jourdain):
        d = derive(gallery.build(name))
        tape, N = d.tape.fork(), d.kinematics.system.N
        vectors = [
            item.value for step in d.steps for item in step.items if isinstance(item.value, Vector)
        ]
        shown = shortest_forms(vectors, tape, d.kinematics.system.bodies[0].frame)
        assert all(
            all(provably_zero(tape, (v.on(tape) - w).components(N)))
            for v, w in zip(vectors, shown, strict=True)
        )


def test_a_step_prints_its_values():
    step = da.kane(gallery.build("vehicle")).steps[3]
    assert "∂v/∂u₂ of C       = −h B.x" in str(step)
    assert r"\mathbf" in step._repr_latex_()
    assert "<math" in step._repr_html_()


def test_a_derivation_explains_itself():
    d = da.kane(gallery.build("vehicle"))
    texts = [str(d.explain(level)) for level in LEVELS]
    assert [len(text) for text in texts] == sorted(len(text) for text in texts)
    assert "Partial velocities" in texts[0]
    assert "Partial velocities</h3>" in d.explain()._repr_html_()
