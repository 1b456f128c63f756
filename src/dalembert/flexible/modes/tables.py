"""Modes, loads and deflections of members as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.algebra.printing.names import unicode_name

if TYPE_CHECKING:
    from dalembert.flexible.modes.buckling import MemberBuckling
    from dalembert.flexible.modes.deflection import Deflection
    from dalembert.flexible.modes.natural_modes import MemberModes
    from dalembert.model.member import Member


def title(member: Member, what: str) -> str:
    """beam 'beam' (clamped–free): what"""
    return f"{member.kind} {member.name!r} ({member.left.support}–{member.right.support}): {what}"


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows in columns, numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def modes_table(found: MemberModes) -> str:
    """ω and βL of every mode, the characteristic equation, the error."""
    waves = any(m.wave_number is not None for m in found.modes)
    head = ("mode", "of", "ω", "βL")[: 3 + waves]
    rows: list[tuple[str, ...]] = [head]
    for k, m in enumerate(found.modes, 1):
        fields = ", ".join(unicode_name(name) for name in m.fields)
        wave = "–" if m.wave_number is None else f"{m.wave_number:.16g}"
        rows.append((str(k), fields, f"{m.frequency:.16g}", wave)[: 3 + waves])
    count = f"{len(found.modes)} natural mode{'s' * (len(found.modes) > 1)}"
    equations = [f"characteristic equation  {e}" for e in found.characteristic]
    return "\n".join([title(found.member, count), *dict.fromkeys(equations), *aligned(rows), *found.remarks])


def buckling_table(found: MemberBuckling) -> str:
    """P and kL of every critical load, the characteristic equation, the error."""
    waves = any(load.wave_number is not None for load in found.loads)
    rows: list[tuple[str, ...]] = [("load", "of", "P", "kL")[: 3 + waves]]
    for k, load in enumerate(found.loads, 1):
        fields = ", ".join(unicode_name(name) for name in load.fields)
        wave = "–" if load.wave_number is None else f"{load.wave_number:.16g}"
        rows.append((str(k), fields, f"{load.force:.16g}", wave)[: 3 + waves])
    equations = [f"characteristic equation  {e}" for e in found.characteristic]
    head = title(found.member, "critical compressive forces")
    return "\n".join([head, *dict.fromkeys(equations), *aligned(rows), *found.remarks])


def deflection_table(found: Deflection) -> str:
    """The static shape of every field: a formula where there is one, and its largest value."""
    lines = [title(found.member, "at rest")]
    for name, e in found.expressions.items():
        lines.append(f"  {unicode_name(name)}(x) = {e}")
    for name, shape in found.shapes.items():
        x, value = shape.peak()
        end = shape(shape.length)
        far = 0.0 if abs(end) < 1e-13 * abs(value) else end
        lines.append(f"  largest {unicode_name(name)}: {value:.13g} at x = {x:.6g}; at the far end {far:.13g}")
    return "\n".join([*lines, *found.remarks])
