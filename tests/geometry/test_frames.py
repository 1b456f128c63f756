"""Frames: three ways to turn one against another, and one angular velocity."""

import re

import pytest

import dalembert as da
from dalembert.errors import BadDescription
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.rotation import AxisRotation, BasisRotation
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution


@pytest.fixture
def s():
    return da.System("frames")


def vanish(s, *scalars):
    return all(provably_zero(s.space.tape, [e.i for e in scalars]))


def same_components(v, w, frame):
    return all(
        provably_zero(v.tape, [(a - b).i for a, b in zip(v.to(frame), w.to(frame), strict=True)])
    )


def same_attitude(F, G):
    N = F.space.N
    return all(same_components(getattr(F, axis), getattr(G, axis), N) for axis in "xyz")


def spin_of_matrix(F):
    """ω from [ω]ₓ = Ṙ Rᵀ, by differentiating the matrix."""
    t = F.space.tape
    R = F.dcm_nodes(t)
    rate = Derivative(t, t.rate)
    S = [[da.Scalar(t, rate(x)) for x in row] for row in R]
    M = [[da.Scalar(t, x) for x in row] for row in R]

    def product(i, j):
        return S[i][0] * M[j][0] + S[i][1] * M[j][1] + S[i][2] * M[j][2]

    N = F.space.N
    return product(2, 1) * N.x + product(0, 2) * N.y + product(1, 0) * N.z


def matrix(F):
    t = F.space.tape
    return [[da.Scalar(t, x) for x in row] for row in F.dcm_nodes(t)]


SEQUENCES = ["x", "y", "z", "zyx", "zxz", "xyz", "yxy", "zzz", "xyxz"]


@pytest.mark.parametrize("axes", SEQUENCES)
def test_angular_velocity_is_the_spin_of_the_matrix(s, axes):
    F = s.N.rotations(axes, *s.coordinates(" ".join(f"q{k}" for k in range(len(axes)))))[-1]
    assert same_components(F.w, spin_of_matrix(F), s.N)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("sign", [1, -1])
def test_rodrigues_formula_agrees_with_a_turn_about_an_axis_of_the_frame(s, axis, sign):
    q = s.coordinate("q")
    basis = s.N.rotated(q, sign * getattr(s.N, axis))
    assert isinstance(basis.rotation, BasisRotation)
    t = s.space.tape
    rodrigues = Frame(
        s.space,
        "rodrigues",
        s.N,
        AxisRotation(q.i, tuple(t.const(sign * (axis == letter)) for letter in "xyz")),
    )
    assert same_attitude(basis, rodrigues)
    assert same_components(basis.w, rodrigues.w, s.N)


def test_rodrigues_formula_about_a_slanted_axis(s):
    q = s.coordinate("q")
    N = s.N
    n = (N.x + 2 * N.y + 2 * N.z) / 3
    F = N.rotated(q, n)
    # R v = cos q v + sin q n×v + (1 − cos q)(n·v) n
    v = N.x - 3 * N.y + 5 * N.z
    turned = da.cos(q) * v + da.sin(q) * n.cross(v) + (1 - da.cos(q)) * (n @ v) * n
    assert same_components(1 * F.x - 3 * F.y + 5 * F.z, turned, N)
    assert same_components(F.w, q.dot * n, N)
    assert same_components(F.w, spin_of_matrix(F), N)
    # the axis has the same components in both frames
    assert vanish(s, *(a - b for a, b in zip(n.to(F), n.to(N), strict=True)))


def test_rodrigues_with_a_symbolic_axis(s):
    q = s.coordinate("q")
    a = s.constant("a", 0.3)
    N = s.N
    n = da.cos(a) * N.x + da.sin(a) * N.z
    F = N.rotated(q, n)
    # turn the axis to x, turn about x, turn back
    G = N.rotated(-a, N.y)
    H = G.rotated(q, G.x)
    K = H.rotated(a, H.y)
    assert same_attitude(F, K)
    assert same_components(F.w, K.w, N)


def test_negative_basis_axis(s):
    q = s.coordinate("q")
    assert same_attitude(s.N.rotated(q, -s.N.y), s.N.rotated(-q, s.N.y))
    assert same_components(s.N.rotated(q, -s.N.y).w, -q.dot * s.N.y, s.N)


def test_a_turn_about_an_axis_of_another_frame_that_is_fixed_in_this_one(s):
    a, b = s.coordinates("a b")
    A = s.N.rotated(a, s.N.z)
    # the z axis of N is the z axis of A
    assert same_attitude(A.rotated(b, s.N.z), A.rotated(b, A.z))


@pytest.mark.parametrize("axes", ["z", "zx", "zyx", "zxz"])
def test_direction_cosines_give_the_angular_velocity_of_the_rotations(s, axes):
    F = s.N.rotations(axes, *s.coordinates(" ".join(f"q{k}" for k in range(len(axes)))))[-1]
    G = s.N.oriented(matrix(F), "G")
    assert same_attitude(F, G)
    assert same_components(F.w, G.w, s.N)


@pytest.mark.parametrize("axes", ["z", "zyx"])
def test_transposed_direction_cosines_are_the_inverse_rotation(s, axes):
    F = s.N.rotations(axes, *s.coordinates(" ".join(f"q{k}" for k in range(len(axes)))))[-1]
    R = matrix(F)
    inverse = s.N.oriented([[R[j][i] for j in range(3)] for i in range(3)])
    back = F.oriented([[R[j][i] for j in range(3)] for i in range(3)])
    assert same_components(inverse.w, spin_of_matrix(inverse), s.N)
    # F turned back is N again and does not spin
    assert same_attitude(back, s.N)
    assert vanish(s, *back.w.to(s.N))


@pytest.mark.parametrize(
    ("cosines", "message"),
    [
        ([[1, 0], [0, 1]], "direction cosines: give a 3 by 3 matrix"),
        (
            [[1, 0, 0], [0, 1, 0], [0, 0, 2]],
            (
                "direction cosines: the rows are not orthogonal unit vectors for every value "
                "of the "
                "coordinates"
            ),
        ),
        (
            [[1, 0, 0], [0, 1, 0], [0, 0, -1]],
            (
                "direction cosines: the determinant is −1, a reflection; exchange two columns or "
                "change a sign"
            ),
        ),
    ],
)
def test_matrices_that_are_no_rotation(s, cosines, message):
    with pytest.raises(BadDescription, match=f"^{re.escape(message)}$"):
        s.N.oriented(cosines)
    assert [s.N] == s.space.frames


def test_quaternion_angular_velocity_is_the_spin_of_the_matrix(s):
    # for every e ≠ 0, also away from the unit sphere
    F = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"))
    assert same_components(F.w, spin_of_matrix(F), s.N)


def test_quaternion_matrix_is_a_rotation_off_the_unit_sphere(s):
    F = s.N.quaternion(*s.coordinates("e0 e1 e2 e3"))
    axes = (F.x, F.y, F.z)
    for i, a in enumerate(axes):
        for j, b in enumerate(axes):
            # through the matrix: in N
            dot = sum((x * y for x, y in zip(a.to(s.N), b.to(s.N), strict=True)), 0 * s.t)
            assert vanish(s, dot - (i == j) * 1)
    assert same_components(F.x.cross(F.y), F.z, s.N)


def test_quaternion_of_a_half_angle_is_the_simple_rotation(s):
    e = s.coordinates("e0 e1 e2 e3")
    q = s.constant("q", 1)
    F = s.N.quaternion(*e)
    half = {e[0]: da.cos(q / 2), e[3]: da.sin(q / 2), e[1]: 0 * q, e[2]: 0 * q}
    G = s.N.rotated(q, s.N.z)
    t = s.space.tape
    put = Substitution(t, {k.i: v.i for k, v in half.items()})
    different = [
        t.sub(put(x.i), y.i)
        for x, y in zip(F.x.to(s.N) + F.y.to(s.N), G.x.to(s.N) + G.y.to(s.N), strict=True)
    ]
    assert all(provably_zero(t, different))


def test_quaternion_needs_four_different_coordinates(s):
    x, y = s.coordinates("x y")
    with pytest.raises(BadDescription, match=r"^quaternion: give four different coordinates$"):
        s.N.quaternion(x, x, y, y)
    with pytest.raises(BadDescription, match=r"^quaternion: give four different coordinates$"):
        s.N.quaternion(1, 0, 0, 0)


def test_rotations_return_the_intermediate_frames(s):
    A, B, D = s.N.rotations("zxz", *s.coordinates("phi theta psi"), names=("A", "B", "D"))
    assert ["A", "B", "D"] == [F.name for F in (A, B, D)]
    assert (s.N, A, B) == (A.parent, B.parent, D.parent)


def test_constant_and_specified_angles(s):
    q = s.specified("q", 3 * s.t)
    assert same_components(s.N.rotated(q, s.N.x).w, q.dot * s.N.x, s.N)
    assert {} == s.N.rotated(0.5, s.N.x).w.parts
    assert vanish(s, s.N.rotated(s.t**2, s.N.x).w @ s.N.x - 2 * s.t)
