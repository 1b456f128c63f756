"""δẋ = f₀ + A δx + B δw, δy = C δx + D δw: a system near a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dalembert.errors import Unknown
from dalembert.files import write
from dalembert.linear.modes import Modes, modes
from dalembert.linear.second_order import SecondOrder, second_order
from dalembert.notebook import Shown

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residual:
    """r = M u̇ − f near the point: M, r_z, r_u and r_w, with the coordinates whose rates are speeds."""

    M: Numbers
    z: Numbers
    u: Numbers
    w: Numbers
    # {place in z: place in u} where ż = u
    rates: dict[int, int]


@dataclass(frozen=True, eq=False)
class LinearModel(Shown):
    """A, B, C, D and f₀ of a system in n − m_hol independent coordinates z and p speeds u, about one point.

    x = (z, u). `point` holds every coordinate and speed there, `offset` f₀ = (ż, u̇), `y` the outputs.
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("poles", "eigs", "eig", "eigvals"), "they are .eigenvalues, and .modes()"),
        **dict.fromkeys(("transfer_function", "tf", "bode", "step", "lqr"), "it is made of .control(), or .frequency_response(…)"),
        **dict.fromkeys(("K", "M", "G"), "they are .second_order().M and the like"),
    }

    system: str
    t: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Numbers
    B: Numbers
    C: Numbers
    D: Numbers
    offset: Numbers
    y: Numbers
    point: dict[str, float]
    residual: Residual = field(repr=False)
    # whether A stays as it is while the motion goes on: only then do eigenvalues decide on stability
    steady: bool = True
    # the amplitudes of the last functions in which members were expanded
    last: tuple[str, ...] = ()
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
        """M ξ̈ + (D + G) ξ̇ + (K + N) ξ = B w for coordinates whose rates are speeds (by default all of these)."""
        return second_order(self.residual, self.states, self.inputs, coordinates)

    def frequency_response(self, frequencies: ArrayLike, input: str, output: str) -> NDArray[np.complex128]:  # noqa: A002 - the word
        """G(iω) = C (iω − A)⁻¹ B + D from an input, or from a specified motion with its rates, to an output or a state.

        A motion a acts through a, ȧ and ä together: B + iω B_ȧ − ω² B_ä stands for B.
        """
        iw = 1j * np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
        names = [input, f"{input}.dot", f"{input}.dot.dot"]
        if not set(names) & set(self.inputs):
            msg = f"frequency_response: no input {input!r}; there are {', '.join(self.inputs) or 'none'}"
            raise Unknown(msg)
        if output in self.outputs:
            C, D = self.C[self.outputs.index(output)], self.D[self.outputs.index(output)]
        elif output in self.states:
            C, D = np.eye(len(self.states))[self.states.index(output)], np.zeros(len(self.inputs))
        else:
            msg = f"frequency_response: no output {output!r}; there are {', '.join((*self.outputs, *self.states))}"
            raise Unknown(msg)
        places = [(k, self.inputs.index(name)) for k, name in enumerate(names) if name in self.inputs]
        response = np.zeros(len(iw), dtype=np.complex128)
        for j, s in enumerate(iw):
            b = sum((s**k * self.B[:, p] for k, p in places), np.zeros(len(self.A), dtype=np.complex128))
            response[j] = C @ np.linalg.solve(s * np.eye(len(self.A)) - self.A, b) + sum(s**k * D[p] for k, p in places)
        return response

    def state_space(self) -> Any:
        """The same as scipy.signal.StateSpace."""
        from scipy.signal import StateSpace

        B = self.B if self.inputs else np.zeros((len(self.states), 1))
        C = self.C if self.outputs else np.eye(len(self.states))
        D = self.D if self.inputs and self.outputs else np.zeros((C.shape[0], B.shape[1]))
        return StateSpace(self.A, B, C, D)

    def control(self) -> Any:
        """The same as control.StateSpace with the names of states, inputs and outputs, where python-control is installed.

        It takes no point in the name of a signal: the output θ.dot is called θ_dot there.
        """
        try:
            from control import ss
        except ImportError:
            from dalembert.ode.failures import MissingPackage

            msg = "control() needs the package python-control; state_space() gives the same to SciPy"
            raise MissingPackage(msg) from None
        outputs = list(self.outputs) or list(self.states)
        C = self.C if self.outputs else np.eye(len(self.states))
        D = self.D if self.outputs else np.zeros((C.shape[0], len(self.inputs)))
        inputs, outputs = ([name.replace(".", "_") for name in names] for names in (self.inputs, outputs))
        return ss(self.A, self.B, C, D, states=list(self.states), inputs=inputs, outputs=outputs)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """A B over C D in one table: a line for the rate of each state and for each output, a column for each state and each input."""
        table = np.block([[self.A, self.B], [self.C, self.D]])
        quoted = [f'"{name}"' if "," in name else name for name in ("", *self.states, *self.inputs)]
        lines = [",".join(quoted)]
        for name, row in zip((*(f"{x}.dot" for x in self.states), *self.outputs), table.tolist(), strict=True):
            lines.append(",".join((f'"{name}"' if "," in name else name, *map(repr, row))))
        write(path, "\n".join([*lines, ""]))

    def __str__(self) -> str:
        head = f"{self.system}, linear about " + (
            ", ".join(f"{k} = {v:.6g} {self.units.get(k, '')}".rstrip() for k, v in self.point.items() if v) or "zero"
        )
        # rounding of what cancels in a row is of the size of its slopes
        dust = 1e-14 * np.maximum(max(1.0, float(np.abs(self.offset).max(initial=0.0))), np.abs(self.A).sum(axis=1))
        listed = zip(self.states, self.offset, dust, strict=True)
        moving = ", ".join(f"{name}.dot {x:.6g}" for name, x, least in listed if abs(x) > least)
        offset = f"f₀: {moving}" if moving else f"f₀ = 0{': an equilibrium' if self.steady else ' at this moment'}"
        notes = () if self.steady else ("not a steady motion: A changes with time, its eigenvalues are those of one moment",)
        from dalembert.linear.truncation import estimate

        converged = estimate(self, self.last) if self.last else ""
        return "\n".join((head, f"states {', '.join(self.states)}", offset, *notes, str(self.modes()), *([converged] if converged else [])))
