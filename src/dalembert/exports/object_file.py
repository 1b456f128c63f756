"""An object file for this or another processor with the header of the C export: no compiler is needed, only a linker."""

from __future__ import annotations

from typing import Final

from dalembert.exports.c import CSource
from dalembert.exports.llvm_text import LLVMSource
from dalembert.exports.model import Model
from dalembert.numerics.jit import CannotCompile, Target, host

# processors whose plain form has no unit for numbers: the unit and the calling convention that systems for them expect
_USUAL: Final = {"riscv64": ("+m,+a,+f,+d,+c", "lp64d"), "riscv32": ("+m,+a,+f,+d,+c", "ilp32d")}


def chosen_target(triple: str = "", cpu: str = "", features: str = "") -> Target:
    """The processor of that name; without one, any of the kind that this machine has."""
    if triple.startswith(("arm", "thumb")) and triple.endswith("hf"):
        msg = (
            f"target={triple!r}: this LLVM hands numbers over in the registers of {triple.removesuffix('hf')} only; take that target "
            "and -mfloat-abi=softfp, with cpu= where the unit for numbers is to be used, or export C"
        )
        raise CannotCompile(msg)
    usual, abi = _USUAL.get(triple.partition("-")[0], ("", ""))
    return Target(triple or host().triple, cpu=cpu, features=features or usual, abi=abi)


def files(model: Model, name: str, target: str = "", real: str = "double", cpu: str = "", features: str = "") -> dict[str, str | bytes]:
    """{name.h, name.o}"""
    source = CSource(model, name, real)
    # a straight line without common subexpressions leaves LLVM's own passes nothing to do
    image = chosen_target(target, cpu, features).object_code(LLVMSource(source).text(), optimize=0)
    return {f"{name}.h": source.header(), f"{name}.o": image}
