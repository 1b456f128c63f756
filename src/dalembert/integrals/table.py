"""The six integrals as a table for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dalembert.algebra.printing.formula_layout import formula_text
from dalembert.algebra.scalar import Scalar
from dalembert.units.quantity import labelled

if TYPE_CHECKING:
    from dalembert.integrals.energy_integrals import EnergyIntegrals

# a longer expression is left to those who ask for it
_LONGEST: Final = 160


def table(found: EnergyIntegrals) -> str:
    """Energies, powers, verdicts, first integrals."""
    lines = [f"{found.system}: energy integrals in the speeds {', '.join(found.speeds)}", *quantities(found), ""]
    formulas = [formula_text(v.formula) for v in found.verdicts]
    width = max(map(len, formulas))
    lines += [f"  {v.symbol:7} = {shown:{width}}  {v.statement}" for v, shown in zip(found.verdicts, formulas, strict=True)]
    if found.potential_exists is False:
        lines.append(f"  no potential energy U: {found.why_no_potential}")
    if found.generalized_potential_exists is False:
        lines.append(f"  no generalized potential energy 𝒰: {found.why_no_generalized_potential}")
    lines += [f"  {load}" for load in found.loads if load.closed is not False]
    failed = [formula_text(identity) for identity, holds in found.identities if holds is False]
    known = ", ".join(formula_text(identity) for identity, holds in found.identities if holds)
    checked = f"FAILED: {', '.join(failed)}" if failed else f"checked exactly: {known}"
    lines.append(f"  {checked}")
    lines += [f"  constant as well: {f.name} = {'𝓗' if f.is_H else _short(f.expression)} ({f.why})" for f in found.first]
    if found.undecided:
        lines.append(f"  UNDECIDED in part: {found.undecided}")
    elif found.bound:
        lines.append(f"  called constant and not: with a probability below {found.bound:.0e}")
    return "\n".join(lines)


def quantities(found: EnergyIntegrals) -> list[str]:
    """K₂ = …, one a line."""
    rows: tuple[tuple[str, str, Scalar], ...] = (
        ("K₂", "J", found.K2),
        ("K₁", "J", found.K1),
        ("K₀", "J", found.K0),
        ("𝒰", "J", found.generalized_potential),
        ("σ_R", "W", found.sigma_R),
        ("σ", "W", found.sigma),
        ("𝒫_nc", "W", found.nonconservative_power),
        ("Ż", "W", found.Z_dot),
    )
    named = [(labelled(name, unit if found.has_units else ""), e) for name, unit, e in rows]
    width = max(5, *(len(name) for name, _ in named))
    return [f"  {name:{width}} = {_short(e)}" for name, e in named]


def _short(e: Scalar) -> str:
    written = str(e)
    return written if len(written) <= _LONGEST and "\n" not in written else f"{written[:_LONGEST].splitlines()[0]} …"
