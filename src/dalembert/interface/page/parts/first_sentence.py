"""One sentence on what a system is, written from the model where its author gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.mechanics.kinematics.system_kinematics import Kinematics

_MOST_NAMES = 3


def first_sentence(kin: Kinematics) -> str:
    """Bodies, what constrains and what loads them, and the degrees of freedom."""
    s = kin.system
    bodies = [b.name for b in s.bodies]
    members = list(s.members)
    what = (
        _counted(bodies, "body", "bodies")
        if bodies
        else _counted(members, "flexible member", "flexible members")
    )
    parts = [what or "A system given by its energies"]
    springs = sum(p.between is not None for p in s.potentials)
    # contacts and friction are loads too, under their own names
    contacts = {c.name: "contact" if c.gap is not None else "friction force" for c in s.contacts}
    kinds = [contacts.get(load.name, "load") for load in s.loads]
    loads = [
        *(["gravity"] if s.gravity_field is not None else []),
        *([f"{springs} spring{'s' * (springs != 1)}"] if springs else []),
        *([_plain(len(s.dissipations), "damper")] if s.dissipations else []),
        *(_plain(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)),
    ]
    under = f" under {_listed(loads)}" if loads else ""
    rows = f", {_plain(len(s.constraints), 'constraint equation')}" if s.constraints else ""
    dof = f"{kin.n_u} degree{'s' * (kin.n_u != 1)} of freedom"
    return f"{parts[0]}{under}{rows}: {dof}, {_plain(kin.n_q, 'coordinate')}."


def _counted(names: Sequence[str], one: str, several: str) -> str:
    if not names:
        return ""
    if len(names) == 1:
        return f"One {one}, {names[0]},"
    shown = _listed([*names[:_MOST_NAMES], *(["others"] if len(names) > _MOST_NAMES else [])])
    return f"{len(names)} {several} ({shown})"


def _plain(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
