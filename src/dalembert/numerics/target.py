"""What native text is written for: a processor, so many numbers side by side, and whether it multiplies and adds in one rounding."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from typing import Final

from dalembert.numerics import jit
from dalembert.once import made_once

# what code may call that it does not bring along: elementary functions that every platform has
IMPORTS: Final = frozenset({"sin", "cos", "exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2", "fmin", "fmax"})


@dataclass(frozen=True)
class Target:
    """A processor by LLVM's names; `lanes` states are computed at a time, `fused` says whether a b + c is rounded once.

    Without fused operations the text contains none. Structures have fields of
    eight bytes on every target, pointers too, so that one layout serves all.
    """

    triple: str
    lanes: int = 1
    fused: bool = True
    cpu: str = ""
    features: str = ""
    # the calling convention, where a processor has several
    abi: str = ""

    def with_lanes(self, lanes: int) -> Target:
        """The same processor with so many states at a time."""
        return replace(self, lanes=lanes)

    @property
    def identity(self) -> bytes:
        """What distinguishes the text for this target."""
        return f"{self.triple} {self.lanes} {self.fused}".encode()

    def object_code(self, text: str, *, optimize: jit.Level = 1) -> bytes:
        """A module in LLVM text as an object file for this target."""
        return jit.compile_for(self.triple, self.cpu, self.features, text, abi=self.abi, optimize=optimize)


# simd128 is in every browser since 2021; there is no fused multiply-add
WASM32: Final = Target("wasm32-unknown-unknown", fused=False, cpu="generic", features="+simd128,+bulk-memory,+nontrapping-fptoint")


@made_once
def _host() -> Target:
    features = jit.host_features()
    triple, cpu, flags = jit.host()
    return Target(triple, 1, platform.machine().lower() in {"arm64", "aarch64"} or features.get("fma", False), cpu, flags)


def host(lanes: int = 1) -> Target:
    """The processor this runs on."""
    return _host() if lanes == 1 else _host().with_lanes(lanes)


def native_lanes() -> int:
    """How many numbers the processor's registers hold side by side."""
    features, fused = jit.host_features(), host().fused
    if features.get("avx512f", False) and features.get("avx512dq", False) and fused:
        return 8
    return 4 if features.get("avx2", False) and fused else 2
