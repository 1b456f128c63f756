"""A rigid body is a cloud of particles: Bar00 (8)–(12); T = ½ m v² + ½ ω·I·ω: Koenig's theorem,
Gre03 (4.43).

Every rigid body is replaced by thirteen particles with the same mass, mass centre and inertia. The
second moments J = ½ tr(I) 1 − I are carried by pairs at ±d in six directions; some masses may be
negative, which the algebra does not mind.
"""

import pytest

import dalembert as da
from dalembert.analysis.integrals.energies import Energies
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.exact.zero_test import SamplePoint, provably_zero
from laws.cases import NAMES, build

DIRECTIONS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1))


def masses(b):
    """The masses of the pairs along the six directions, with Σ 2 μ d d = J."""
    xx, yy, zz, xy, yz, xz = (da.Scalar(b.inertia.tape, i) for i in b.inertia.to(b.frame).entries())
    half_trace = (xx + yy + zz) / 2
    mixed = (-xy / 2, -yz / 2, -xz / 2)
    return (
        (half_trace - xx) / 2 - mixed[0] - mixed[2],
        (half_trace - yy) / 2 - mixed[0] - mixed[1],
        (half_trace - zz) / 2 - mixed[1] - mixed[2],
        *mixed,
    )


def cloud(b):
    """Particles that are together equimomental to the body."""
    if b.frame is None:
        return [b]
    F, pairs = b.frame, masses(b)
    particles = [da.Body(f"{b.name}, centre", b.mass - 2 * sum(pairs[1:], pairs[0]), b.G)]
    for k, (mass, (x, y, z)) in enumerate(zip(pairs, DIRECTIONS, strict=True)):
        for sign in (1, -1):
            place = b.G.offset(sign * (x * F.x + y * F.y + z * F.z), frame=F)
            particles.append(da.Body(f"{b.name}, {k} {sign:+d}", mass, place))
    return particles


def as_particles(s):
    """The system with every rigid body replaced by its cloud."""
    s.bodies[:] = [particle for b in s.bodies for particle in cloud(b)]
    return s


@pytest.fixture(params=NAMES)
def pair(request):
    """The kinematics with bodies, and with clouds of particles in their place."""
    s = build(request.param)
    return da.kinematics(s), da.kinematics(as_particles(s))


def same_values(first, second):
    """Whether (tape, nodes) of one system have the same values at a random point."""
    point = SamplePoint(second[0], 2024)
    return point.on(first[0]).values(first[1]) == point.values(second[1])


def test_koenig(pair):
    first, second = ((kin.tape, [Quantities(kin).rates.T.value.i]) for kin in pair)
    assert same_values(first, second)


def test_kanes_equations_are_those_of_the_particles(pair):
    first, second = ((d.tape, d.equations.residuals) for d in map(da.kane, pair))
    assert same_values(first, second)


def test_the_cloud_has_the_mass_centre_and_inertia_of_the_body():
    s = da.System("body")
    q = s.coordinate("q")
    F = s.N.rotated(q, s.N.z)
    m, *I = s.constants("m I_xx I_yy I_zz I_xy I_yz I_xz")
    b = s.body("b", m, s.O, F, da.inertia(F, *I))
    t = s.space.tape
    particles = cloud(b)
    total = sum((p.mass for p in particles[1:]), particles[0].mass)
    first = sum((p.mass * (p.G - b.G) for p in particles[1:]), 0 * F.x)
    xx = sum(
        (
            p.mass * ((p.G - b.G) @ F.y) ** 2 + p.mass * ((p.G - b.G) @ F.z) ** 2
            for p in particles[1:]
        ),
        0 * m,
    )
    xy = sum((-p.mass * ((p.G - b.G) @ F.x) * ((p.G - b.G) @ F.y) for p in particles[1:]), 0 * m)
    assert all(
        provably_zero(t, [(total - m).i, *first.components(F), (xx - I[0]).i, (xy - I[3]).i])
    )


def test_energies_and_powers_are_those_of_the_particles(pair):
    # Mit22 (29), (30) for bodies against (4), (7) for particles
    energies = [Energies(kin) for kin in pair]
    first, second = (
        (E.t, [e.i for e in (E.K0, E.K1, E.K2, E.sigma_R, E.sigma, E.P)]) for E in energies
    )
    assert same_values(first, second)
