import ctypes

import mpmath
import numpy
import pytest

from dalembert.runtime.numerics import jit, math_kernels
from dalembert.runtime.numerics.jit import simd_width
from dalembert.runtime.numerics.llvm_types import vector_type

LANES = (1, 2, 4, 8)


def loop(lanes, *, fused=True):
    """sin and cos of arrays, through the kernel."""
    real = vector_type(lanes)
    pair = f"{{{real}, {real}}}"
    text = f"""{math_kernels.declarations(lanes)}
{math_kernels.per_lane_ir("sin", lanes)}
{math_kernels.per_lane_ir("cos", lanes)}
{math_kernels.sincos(lanes, fused=fused)}
define void @loop(ptr %x, ptr %s, ptr %c, i64 %n) {math_kernels.attributes(lanes)} {{
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%j, %next]
  %px = getelementptr {real}, ptr %x, i64 %i
  %v = load {real}, ptr %px, align 8
  %r = call {pair} @sincos.{lanes}({real} %v)
  %a = extractvalue {pair} %r, 0
  %b = extractvalue {pair} %r, 1
  %ps = getelementptr {real}, ptr %s, i64 %i
  %pc = getelementptr {real}, ptr %c, i64 %i
  store {real} %a, ptr %ps, align 8
  store {real} %b, ptr %pc, align 8
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %next, label %done
done:
  ret void
}}"""
    library = jit.load(text, ("loop",), optimize=0)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(
        library.address("loop")
    )

    def run(x, _keep=library):
        x = numpy.concatenate([x, numpy.zeros(-len(x) % 8)])
        s, c = numpy.empty_like(x), numpy.empty_like(x)
        function(x.ctypes.data, s.ctypes.data, c.ctypes.data, len(x) // lanes)
        return x, s, c

    return run


def worst(x, values, exact):
    """The largest error in units in the last place of the exact value."""
    errors = []
    with mpmath.workprec(1400):
        for a, value in zip(x, values, strict=True):
            true = exact(mpmath.mpf(float(a)))
            if true:
                errors.append(
                    abs(mpmath.mpf(float(value)) - true)
                    / mpmath.mpf(float(numpy.spacing(abs(float(true)))))
                )
    return float(max(errors))


def near_multiples_of_half_pi():
    rng = numpy.random.default_rng(3)
    # two multiples that are very near to a double
    k = numpy.concatenate([numpy.arange(1, 200), [263205, 526410], rng.integers(200, 6366197, 400)])
    with mpmath.workprec(200):
        x = numpy.array([float(int(i) * mpmath.pi / 2) for i in k])
    return numpy.concatenate([x, numpy.nextafter(x, 0), numpy.nextafter(x, 1e9), -x])


def samples():
    rng = numpy.random.default_rng(1)
    small = 10.0 ** rng.uniform(-320, 7, 400)
    edges = [0.0, 5e-324, 1e-310, numpy.pi / 4, numpy.nextafter(numpy.pi / 4, 1), 1e7, -1e7]
    return numpy.concatenate(
        [
            near_multiples_of_half_pi(),
            rng.uniform(-1e7, 1e7, 800),
            rng.normal(size=800),
            small,
            edges,
        ]
    )


@pytest.mark.slow
def test_at_most_one_ulp_up_to_ten_million():
    x, s, c = loop(1)(samples())
    assert worst(x, s, mpmath.sin) <= 1
    assert worst(x, c, mpmath.cos) <= 1


def test_right_beyond_ten_million():
    rng = numpy.random.default_rng(2)
    x, s, c = loop(1)(
        numpy.concatenate(
            [10.0 ** rng.uniform(7.0000001, 308, 300), [numpy.nextafter(1e7, 1e8), 1.7e308]]
        )
    )
    assert worst(x, s, mpmath.sin) <= 1
    assert worst(x, c, mpmath.cos) <= 1


def test_no_angle_no_sine():
    x = numpy.array([numpy.nan, numpy.inf, -numpy.inf])
    for lanes in LANES:
        _, s, c = loop(lanes)(x)
        assert numpy.isnan(s[:3]).all()
        assert numpy.isnan(c[:3]).all()
        assert [0.0] * 5 == list(s[3:])
        assert [1.0] * 5 == list(c[3:])


@pytest.mark.parametrize("lanes", LANES[1:])
def test_lanes_have_the_bits_of_scalars(lanes):
    rng = numpy.random.default_rng(5)
    x = samples()
    x[rng.integers(0, len(x), 100)] = 10.0 ** rng.uniform(7, 300, 100)
    for one, many in zip(loop(1)(x), loop(lanes)(x), strict=True):
        assert (one.view(numpy.int64) == many.view(numpy.int64)).all()


def test_host_has_lanes():
    assert simd_width() in LANES


def test_without_fused_operations_too():
    """In a page there are none; the library begins earlier."""
    inside = samples()
    x, s, c = loop(1, fused=False)(inside[numpy.abs(inside) <= 1e6])
    assert worst(x, s, mpmath.sin) <= 1
    assert worst(x, c, mpmath.cos) <= 1
    four = loop(4, fused=False)(x)
    assert (s.view(numpy.int64) == four[1].view(numpy.int64)).all()
    _, far, _ = loop(1, fused=False)(numpy.array([3e6, 1e300]))
    assert numpy.allclose(numpy.sin([3e6, 1e300]), far[:2], rtol=1e-15)
