"""Vectors as sums over frames, points hanging on points, dyadics."""

import re
from itertools import pairwise

import pytest

import dalembert as da
from dalembert.errors import BadExpression
from dalembert.mechanics.geometry.vector import MOST_PARTS, outer_square
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative


@pytest.fixture
def s():
    return da.System("vectors")


@pytest.fixture
def frames(s):
    """N and four frames, each turned against the one before, and one beside them."""
    F = [s.N, *s.N.rotations("zxyz", *s.coordinates("a b c d"))]
    return [*F, s.N.rotated(s.coordinate("e"), s.N.x)]


@pytest.fixture
def vectors(s, frames):
    k, l = s.constants("k l")
    N, A, B, C, D, E = frames
    return [k * N.x + 2 * A.y, l * B.z - D.x, C.x + k * E.y + E.z / l, A.x + B.y + C.z + D.x + E.y]


def zero(s, *scalars):
    return all(provably_zero(s.space.tape, [e.i for e in scalars]))


def same(s, v, w):
    return zero(s, *(v - w).to(s.N))


def test_dot_product_is_symmetric_and_bilinear(s, vectors):
    u, v, w, z = vectors
    k = s["k"]
    assert zero(s, u @ v - v @ u)
    assert zero(s, (u + k * v) @ w - u @ w - k * (v @ w))
    assert zero(s, u @ z - sum((a * b for a, b in zip(u.to(s.N), z.to(s.N), strict=True)), 0 * k))


def test_cross_product_is_alternating_and_perpendicular(s, vectors):
    u, v, w, _ = vectors
    assert same(s, u.cross(v), -(v.cross(u)))
    assert zero(s, u.cross(v) @ u, u.cross(v) @ v)
    assert same(s, u.cross(v + w), u.cross(v) + u.cross(w))


def test_triple_products(s, vectors):
    u, v, w, _ = vectors
    # a×(b×c) = b (a·c) − c (a·b)
    assert same(s, u.cross(v.cross(w)), (u @ w) * v - (u @ v) * w)
    assert zero(s, u @ v.cross(w) - v @ w.cross(u))


def test_sums_and_multiples(s, vectors):
    u, v, *_ = vectors
    k = s["k"]
    assert same(s, u + v - v, u)
    assert same(s, 2 * u / 4, u / 2)
    assert same(s, k * u - u * k, 0 * u)
    assert {} == (u - u).parts


def test_components_do_not_depend_on_the_route(s, vectors, frames):
    for v in vectors:
        for F, G in pairwise(frames):
            again = sum((c * axis for c, axis in zip(v.to(F), (F.x, F.y, F.z), strict=True)), 0 * v)
            assert zero(s, *(a - b for a, b in zip(v.to(G), again.to(G), strict=True)))


def test_a_vector_has_at_most_three_parts(vectors):
    assert len(vectors[3].parts) <= MOST_PARTS
    assert 2 == len(vectors[0].parts)


def test_unit_vectors_are_orthonormal(s, frames):
    for F in frames:
        assert (1, 1, 1, 0, 0, 0) == tuple(
            e.value for e in (F.x @ F.x, F.y @ F.y, F.z @ F.z, F.x @ F.y, F.y @ F.z, F.z @ F.x)
        )
        assert same(s, F.x.cross(F.y), F.z)


def test_product_of_vectors_must_say_which(frames):
    N, A, *_ = frames
    with pytest.raises(
        BadExpression,
        match=re.escape("a product of two vectors is written a @ b (dot) or a.cross(b)"),
    ):
        N.x * A.x
    with pytest.raises(BadExpression, match="a vector is added to vectors alone"):
        N.x + 1
    with pytest.raises(BadExpression, match="the dot product takes two vectors"):
        N.x @ 1


def test_vectors_print(s):
    B = s.N.rotated(s.coordinate("q"), s.N.z, "B")
    k = s.constant("k")
    assert "0" == str(0 * B.x)
    assert "B.y" == str(B.y)
    assert "(k) N.x + (2) B.y" == str(k * s.N.x + 2 * B.y)


# ---- points ------------------------------------------------------------------------------------


@pytest.fixture
def tree(s, frames):
    N, A, B, C, _, E = frames
    x = s.coordinate("x")
    P = s.O.offset(x * N.x + A.y, "P")
    Q = P.offset(2 * B.z, "Q")
    R = Q.offset(x * C.x, "R")
    T = P.offset(3 * E.y, "T")
    return [s.O, P, Q, R, T]


def test_difference_of_points(s, tree, frames):
    O, P, _, R, T = tree
    _, _, B, C, _, E = frames
    assert same(s, R - P, 2 * B.z + s["x"] * C.x)
    assert same(s, R - T, 2 * B.z + s["x"] * C.x - 3 * E.y)
    for A in tree:
        assert {} == (A - A).parts
        for D in tree:
            assert same(s, A - D, -(D - A))
            assert same(s, (A - O) - (D - O), A - D)


def test_velocity_is_the_derivative_of_the_position(s, tree):
    t = s.space.tape
    rate = Derivative(t, t.rate)
    for P in tree:
        r = (P - s.O).components(s.N)
        assert all(
            provably_zero(
                t, [t.sub(rate(c), v) for c, v in zip(r, P.v.components(s.N), strict=True)]
            )
        )


def test_velocity_of_a_body_point(s, frames):
    # v_Q = v_P + ω × (Q − P) for two points of one body
    D = frames[4]
    P = s.O.offset(s.coordinate("x") * s.N.x)
    Q = P.offset(1 * D.x + 2 * D.y - D.z)
    assert same(s, Q.v, P.v + D.w.cross(Q - P))


def test_a_point_rides_on_the_deepest_frame_of_its_offset(frames, tree):
    O, P, Q, _, _ = tree
    assert frames[1] is P.frame
    assert frames[2] is Q.frame
    assert frames[0] is O.frame
    assert P.frame is P.offset(0 * frames[3].x).frame


# ---- dyadics -----------------------------------------------------------------------------------


def test_dyadic_of_the_same_inertia_in_another_frame(s, frames, vectors):
    B, D = frames[2], frames[4]
    I = da.inertia(B, *s.constants("I_xx I_yy I_zz I_xy I_yz I_xz"))
    for v in vectors:
        assert same(s, I @ v, I.to(D) @ v)


def test_dyadic_is_symmetric_and_linear(s, frames, vectors):
    I = da.inertia(frames[2], *s.constants("I_xx I_yy I_zz I_xy I_yz I_xz"))
    u, v, *_ = vectors
    assert zero(s, u @ (I @ v) - v @ (I @ u))
    assert same(s, I @ (u + 2 * v), I @ u + 2 * (I @ v))


def test_sum_and_outer_product_of_dyadics(s, frames, vectors):
    B, D = frames[2], frames[4]
    u, v, *_ = vectors
    I, J = da.inertia(B, 1, 2, 3), da.inertia(D, 4, 5, 6, 1, 1, 1)
    assert same(s, (I + J) @ u, I @ u + J @ u)
    assert same(s, outer_square(u, B) @ v, (u @ v) * u)
    assert same(s, I.scale(s["k"]) @ u, s["k"] * (I @ u))


def test_products_of_inertia_are_tensor_entries(s):
    # I_xy = −∫ x y dm: a particle of mass 1 at (1, 2, 3)
    I = da.inertia(s.N, 13, 10, 5, -2, -6, -3)
    r = s.N.x + 2 * s.N.y + 3 * s.N.z
    w = s.N.x - s.N.y + 4 * s.N.z
    assert same(s, I @ w, r.cross(w.cross(r)))


def test_axis_of_an_inertia_must_lie_in_one_frame(frames):
    with pytest.raises(
        da.BadDescription, match=r"give the axis as a unit vector of one frame, such as B.z"
    ):
        da.rod_inertia((frames[1].x + frames[2].x) / 2, 1, 1)
