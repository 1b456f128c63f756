"""δẋ = f₀ + A δx + B δw, δy = C δx + D δw: a system near a point; λ v = A v: its eigenvalues,
damping and mode shapes.

States that drive others without being driven back split A into blocks. Each block has eigenvalues
of its own, so that the zeros of ignorable coordinates are exactly zero and do not blur the others
(a heading that drives a path is a Jordan block).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from dalembert.analysis.linear.second_order import SecondOrder, second_order
from dalembert.errors import MissingPackage, Unknown
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.atomic_write import write_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.runtime.simulation.plotting.chart import GREY, Chart, Curve, Panel
from dalembert.runtime.simulation.plotting.plot import Appearance, Plot, display
from dalembert.symbolic.units.quantities import label_with_unit

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    Complex = NDArray[np.complex128]

# entries below this part of both their row's and their column's largest, or of all entries, are
# rounding
_ROUNDING: Final = 1e-14
_PRINT_ROUNDOFF: Final = 1e-13
_UNIT: Final = 2.0**-53
# eigenvalues that differ by less are one, seen several times
_REPEATED_TOLERANCE: Final = 1e-10
# how many frequencies must converge for enough functions of members
_N_FREQUENCIES: Final = 3


class Mode(NamedTuple):
    """One eigenvalue λ = −ζ ω₀ ± i ω with its shape, the largest component of which is one."""

    eigenvalue: complex
    shape: Complex
    # part of the linear model that is zero for every value of the state: an ignorable coordinate
    structural: bool

    @property
    def frequency(self) -> float:
        """ω₀ = |λ|, in radians per unit of time."""
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """ζ = −Re λ/|λ|; NaN for λ = 0."""
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else math.nan


@dataclass(frozen=True, eq=False)
class Modes(Displayable):
    """The modes of a linear model; those that oscillate fastest last, structural zeros first."""

    states: tuple[str, ...]
    modes: tuple[Mode, ...]
    # whether time is in seconds, because units were given
    seconds: bool = False

    @property
    def eigenvalues(self) -> Complex:
        """All of them, each as often as it occurs."""
        return np.array([m.eigenvalue for m in self.modes], dtype=complex)

    @property
    def nonstructural(self) -> Complex:
        """Those that are not zero by structure."""
        return np.array([m.eigenvalue for m in self.modes if not m.structural], dtype=complex)

    @property
    def growth(self) -> float:
        """max Re λ over the eigenvalues that are not zero by structure; −∞ if there are none."""
        return float(np.max(self.nonstructural.real, initial=-math.inf))

    @property
    def frequencies(self) -> FloatArray:
        """|λ|"""
        return np.abs(self.eigenvalues)

    @property
    def damping(self) -> FloatArray:
        """ζ = −Re λ/|λ|"""
        return np.array([m.damping for m in self.modes])

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
        style: Any = None,
    ) -> Plot:
        """The eigenvalues in the complex plane, without structural zeros.

        ax is axes of matplotlib to draw on, figsize the size in inches, style a style of
        matplotlib.
        """
        z = self.nonstructural
        unit = " [1/s]" if self.seconds else ""
        panel = Panel(f"Im λ{unit}", (Curve("", z.real, z.imag),), zero_line=True, dotted=True)
        reach = 1.1 * max(float(np.abs(z.real).max(initial=0.0)), 1e-3)
        right = max(0.1 * reach, 1.1 * float(z.real.max(initial=0.0)))
        title = "Eigenvalues"
        facts = f"{len(z)} eigenvalues, largest real part {self.growth:.4g}{unit}"
        chart = Chart(title, facts, GREY, (-reach, right), (panel,), x_label=f"Re λ{unit}")
        return display(chart, title, path, Appearance(ax, figsize, style))

    def __str__(self) -> str:
        zeros = sum(m.structural for m in self.modes)
        heads = (
            (label_with_unit("eigenvalue", "1/s"), label_with_unit("frequency", "rad/s"))
            if self.seconds
            else ("eigenvalue", "frequency")
        )
        wide = max(12, len(heads[1]) + 1)
        lines = [f"  {heads[0]:<28}{heads[1]:>{wide}}{'damping':>12}  shape"]
        for m in self.modes:
            if m.structural or m.eigenvalue.imag < 0:
                continue
            z = _drop_roundoff(m.eigenvalue)
            value = f"{z.real:.9g} ± {z.imag:.9g} i" if z.imag else f"{z.real:.9g}"
            damping = 0.0 - z.real / abs(z) if z else math.nan
            numbers = f"{value:<28}{m.frequency:>{wide}.6g}{damping:>12.4g}"
            lines.append(f"  {numbers}  {self._shape_text(m)}")
        return "\n".join(
            [
                *lines,
                *([f"  0, {zeros} times: ignorable coordinates and free speeds"] if zeros else []),
            ]
        )

    def _shape_text(self, m: Mode) -> str:
        """The components above a hundredth, by size, with their phases."""
        order = np.argsort(-np.abs(m.shape), kind="stable")[:4]
        parts = []
        for k in order:
            z = complex(m.shape[k])
            if abs(z) >= 0.01:
                turned = (
                    f"∠{math.degrees(math.atan2(z.imag, z.real)):.0f}°"
                    if abs(z.imag) > 1e-9
                    else ""
                )
                parts.append(f"{self.states[k]} {abs(z) if turned else z.real:.3g}{turned}")
        return ", ".join(parts)


def _drop_roundoff(z: complex) -> complex:
    """An eigenvalue without the rounding errors of a part that is zero."""
    return complex(
        z.real if abs(z.real) > _PRINT_ROUNDOFF * abs(z) else 0.0,
        z.imag if abs(z.imag) > _PRINT_ROUNDOFF * abs(z) else 0.0,
    )


def modes(A: FloatArray, states: tuple[str, ...], *, seconds: bool = False) -> Modes:
    """The eigenvalues of the blocks of A, and the eigenvectors of A for each."""
    mode_list = []
    for block in strong_components(A):
        part = A[np.ix_(block, block)]
        if len(block) == 1:
            structural = abs(part[0, 0]) <= _ROUNDING * np.abs(A).max(initial=0.0)
            mode_list += [
                Mode(
                    0j if structural else complex(part[0, 0]),
                    _eigenvector(A, part[0, 0]),
                    bool(structural),
                )
            ]
            continue
        mode_list += [
            Mode(complex(z), _eigenvector(A, z), structural=False) for z in np.linalg.eigvals(part)
        ]
    mode_list.sort(
        key=lambda m: (
            not m.structural,
            abs(m.eigenvalue.imag),
            m.eigenvalue.real,
            m.eigenvalue.imag,
        )
    )
    return Modes(states, _separate_repeated(A, mode_list), seconds)


def _separate_repeated(A: FloatArray, modes: list[Mode]) -> tuple[Mode, ...]:
    """Modes of one eigenvalue with directions of their own, where A has them: a ball in a bowl
    swings both ways.
    """
    apart: list[Mode] = []
    for m in modes:
        before = sum(
            abs(m.eigenvalue - other.eigenvalue) <= _REPEATED_TOLERANCE * abs(m.eigenvalue)
            for other in apart
            if m.eigenvalue
        )
        apart.append(m._replace(shape=_eigenvector(A, m.eigenvalue, before)) if before else m)
    return tuple(apart)


def strong_components(A: FloatArray) -> list[list[int]]:
    """The strongly connected parts of x_i ← x_j where A_ij is not zero."""
    size = np.abs(A)
    least = np.minimum(
        size.max(axis=1, initial=0.0)[:, None], size.max(axis=0, initial=0.0)[None, :]
    )
    reach = (size > np.maximum(_ROUNDING * least, _UNIT * size.max(initial=0.0))) | np.eye(
        len(A), dtype=bool
    )
    for k in range(len(A)):
        reach |= np.outer(reach[:, k], reach[k])
    mutual = reach & reach.T
    return [np.flatnonzero(mutual[k]).tolist() for k in range(len(A)) if not mutual[k, :k].any()]


def _eigenvector(A: FloatArray, eigenvalue: complex, repetition: int = 0) -> Complex:
    """The direction that A − λ 1 shortens most: an eigenvector also where others nearly
    coincide; or the next such direction.
    """
    _, shortened, directions = np.linalg.svd(A - eigenvalue * np.eye(len(A)))
    chosen = (
        -1 - repetition if shortened[-1 - repetition] <= _REPEATED_TOLERANCE * shortened[0] else -1
    )
    shape = directions[chosen].conj()
    return np.asarray(shape / shape[np.argmax(np.abs(shape))], dtype=complex)


class ResidualJacobian(NamedTuple):
    """r = M u̇ − f near the point: M, r_z, r_u and r_w, with the coordinates whose rates are
    speeds.
    """

    M: FloatArray
    z: FloatArray
    u: FloatArray
    w: FloatArray
    # {place in z: place in u} where ż = u
    rates: dict[int, int]


@dataclass(frozen=True, eq=False)
class LinearModel(Displayable):
    """A, B, C, D and f₀ of a system in n − m_hol independent coordinates z and p speeds u, about
    one point.

    x = (z, u). `point` holds every coordinate and speed there, `offset` f₀ = (ż, u̇), `y` the
    outputs.
    """

    _foreign_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("poles", "eigs", "eig", "eigvals"), "they are .eigenvalues, and .modes()"),
        **dict.fromkeys(
            ("transfer_function", "tf", "bode", "step", "lqr"),
            "it is made of .control(), or .frequency_response(…)",
        ),
        **dict.fromkeys(("K", "M", "G"), "they are .second_order().M and the like"),
    }

    system: str
    t: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    offset: FloatArray
    y: FloatArray
    point: dict[str, float]
    residual: ResidualJacobian = field(repr=False)
    # whether A is constant along the motion: only then do eigenvalues decide on stability
    steady: bool = True
    # the amplitudes of the last functions in which members were expanded
    last_amplitudes: tuple[str, ...] = ()
    # of the values at the point; where there are any, time is in seconds
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_z(self) -> int:
        """The number of independent coordinates."""
        return len(self.A) - len(self.residual.M)

    @cached_property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues of A, block by block, so that structural zeros are exact."""
        return self.modes().eigenvalues

    def modes(self) -> Modes:
        """Eigenvalues with their frequencies, damping and mode shapes."""
        return modes(self.A, self.states, seconds=bool(self.units))

    def second_order(self, coordinates: Sequence[str] | None = None) -> SecondOrder:
        """M ξ̈ + (D + G) ξ̇ + (K + N) ξ = B w for coordinates whose rates are speeds (by default
        all of these).
        """
        return second_order(self.residual, self.states, self.inputs, coordinates)

    def frequency_response(
        self,
        frequencies: ArrayLike,
        input: str,  # noqa: A002
        output: str,
    ) -> NDArray[np.complex128]:
        """G(iω) = C (iω − A)⁻¹ B + D from an input, or from a prescribed motion with its rates, to
        an output or a state.

        A motion a acts through a, ȧ and ä together: B + iω B_ȧ − ω² B_ä stands for B.
        """
        iw = 1j * np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
        names = [input, f"{input}.dot", f"{input}.dot.dot"]
        if not set(names) & set(self.inputs):
            msg = (
                f"frequency_response: no input {input!r}; there are "
                f"{', '.join(self.inputs) or 'none'}"
            )
            raise Unknown(msg)
        C, D = self._output_row(output)
        places = [
            (k, self.inputs.index(name)) for k, name in enumerate(names) if name in self.inputs
        ]
        response = np.zeros(len(iw), dtype=np.complex128)
        for j, s in enumerate(iw):
            b = sum(
                (s**k * self.B[:, p] for k, p in places), np.zeros(len(self.A), dtype=np.complex128)
            )
            response[j] = C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, b) + sum(
                s**k * D[p] for k, p in places
            )
        return response

    def _output_row(self, output: str) -> tuple[FloatArray, FloatArray]:
        """The rows of C and D of an output; a state is an output of its own."""
        if output in self.outputs:
            k = self.outputs.index(output)
            return self.C[k], self.D[k]
        if output in self.states:
            return np.eye(len(self.states))[self.states.index(output)], np.zeros(len(self.inputs))
        msg = (
            f"frequency_response: no output {output!r}; there are "
            f"{', '.join((*self.outputs, *self.states))}"
        )
        raise Unknown(msg)

    def state_space(self) -> Any:
        """The same as scipy.signal.StateSpace."""
        from scipy.signal import StateSpace

        B = self.B if self.inputs else np.zeros((len(self.states), 1))
        C = self.C if self.outputs else np.eye(len(self.states))
        D = self.D if self.inputs and self.outputs else np.zeros((C.shape[0], B.shape[1]))
        return StateSpace(self.A, B, C, D)

    def control(self) -> Any:
        """The same as control.StateSpace with the names of states, inputs and outputs, where
        python-control is installed.

        It takes no point in the name of a signal: the output θ.dot is called θ_dot there.
        """
        try:
            from control import ss
        except ImportError:
            msg = (
                "control() needs the package python-control; state_space() gives the same to SciPy"
            )
            raise MissingPackage(msg) from None
        outputs = list(self.outputs) or list(self.states)
        C = self.C if self.outputs else np.eye(len(self.states))
        D = self.D if self.outputs else np.zeros((C.shape[0], len(self.inputs)))
        inputs, outputs = (
            [name.replace(".", "_") for name in names] for names in (self.inputs, outputs)
        )
        return ss(self.A, self.B, C, D, states=list(self.states), inputs=inputs, outputs=outputs)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """A B over C D in one table: a line for the rate of each state and for each output, a
        column for each state and each input.
        """
        table = np.block([[self.A, self.B], [self.C, self.D]])
        quoted = [f'"{name}"' if "," in name else name for name in ("", *self.states, *self.inputs)]
        lines = [",".join(quoted)]
        for name, row in zip(
            (*(f"{x}.dot" for x in self.states), *self.outputs), table.tolist(), strict=True
        ):
            lines.append(",".join((f'"{name}"' if "," in name else name, *map(repr, row))))
        write_text(path, "\n".join([*lines, ""]))

    def __str__(self) -> str:
        head = f"{self.system}, linear about " + (
            ", ".join(
                f"{k} = {v:.6g} {self.units.get(k, '')}".rstrip()
                for k, v in self.point.items()
                if v
            )
            or "zero"
        )
        # rounding of what cancels in a row is of the size of its slopes
        dust = 1e-14 * np.maximum(
            max(1.0, float(np.abs(self.offset).max(initial=0.0))), np.abs(self.A).sum(axis=1)
        )
        listed = zip(self.states, self.offset, dust, strict=True)
        moving = ", ".join(f"{name}.dot {x:.6g}" for name, x, least in listed if abs(x) > least)
        offset = (
            f"f₀: {moving}"
            if moving
            else f"f₀ = 0{': an equilibrium' if self.steady else ' at this moment'}"
        )
        notes = (
            ()
            if self.steady
            else (
                "not a steady motion: A changes with time, its eigenvalues are those of one moment",
            )
        )
        converged = self._truncation_estimate() if self.last_amplitudes else ""
        return "\n".join(
            (
                head,
                f"states {', '.join(self.states)}",
                offset,
                *notes,
                str(self.modes()),
                *([converged] if converged else []),
            )
        )

    def _truncation_estimate(self) -> str:
        """What the last admissible function of every expanded member changed in the lowest
        frequencies, in a line.

        The equations of n − 1 functions are those of n functions without the last one, so that a
        smaller model need not be derived.
        """
        r, rates = self.residual, self.residual.rates
        dropped = [
            k for k, name in enumerate(self.states[: self.n_z]) if name in self.last_amplitudes
        ]
        if not dropped or any(k not in rates for k in dropped):
            return ""
        z = [k for k in range(self.n_z) if k not in dropped]
        u = [k for k in range(len(r.M)) if k not in {rates[k] for k in dropped}]
        lower = -np.linalg.solve(
            r.M[np.ix_(u, u)], np.hstack([r.z[np.ix_(u, z)], r.u[np.ix_(u, u)]])
        )
        kept = [*z, *(self.n_z + k for k in u)]
        reduced_spectrum = modes(
            np.vstack([self.A[np.ix_(z, kept)], lower]), tuple(self.states[k] for k in kept)
        ).eigenvalues
        lowest = [
            sorted(z.imag for z in found.tolist() if z.imag > 0)[:_N_FREQUENCIES]
            for found in (self.eigenvalues, reduced_spectrum)
        ]
        shown = [f"{a:.6g} by {abs(b - a) / a:.1e}" for a, b in zip(*lowest, strict=False)]
        return (
            f"the last function of each member changed the frequencies {', '.join(shown)}"
            if shown
            else ""
        )
