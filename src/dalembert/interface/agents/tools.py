"""derive, verify, check, agree, simulate as functions of plain values, with plain results: what a
program may ask for.

Every result is a dictionary of numbers and texts. A refusal is one too: {"refused": sentence,
"kind": class}.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final

from dalembert.analysis.verify.verify import verify as verify_answer
from dalembert.errors import DalembertError, Unknown
from dalembert.foundation.suggestions import suggest_name
from dalembert.interface.agents.systems import Gallery, system_of
from dalembert.interface.api.agreement import agreement
from dalembert.interface.api.simulate import simulate as run_system
from dalembert.interface.report.derivation_fields import derivation_fields
from dalembert.interface.report.json_output import as_json
from dalembert.mechanics.agreement.principle_registry import PRINCIPLE_NAMES
from dalembert.mechanics.agreement.principle_registry import load_principle as principle_of
from dalembert.mechanics.kinematics.system_kinematics import kinematics

LONGEST_RUN: Final = 1000.0
MOST_POINTS: Final = 201
Result = dict[str, Any]


class Tools:
    """The tools of one server, which reads files of one folder only."""

    def __init__(self, folder: Path, gallery: Gallery) -> None:
        self.folder, self.gallery = folder, gallery
        # what is computed once for a system is shared: one question at a time
        self._one = Lock()

    def _answer(self, ask: Callable[[], Result]) -> Result:
        """The result, or a refusal with its sentence; warnings are part of the result."""
        with self._one, warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                result = ask()
            except DalembertError as problem:
                return {"refused": str(problem), "kind": type(problem).__name__}
        messages = [str(w.message) for w in heard]
        return {**result, "warnings": messages} if messages else result

    def derive(self, system: str, principle: str = "kane", notation: str = "text") -> Result:
        """The equations of motion by one principle, as text or LaTeX."""

        def ask() -> Result:
            if principle not in PRINCIPLE_NAMES:
                hint = suggest_name(principle, PRINCIPLE_NAMES)
                listed = f"there are {', '.join(PRINCIPLE_NAMES)}"
                msg = f"no principle {principle!r:.40}; {hint or listed}"
                raise Unknown(msg)
            if notation not in ("text", "latex"):
                msg = f"notation {notation!r:.40}: text or latex"
                raise Unknown(msg)
            s = system_of(system, self.folder, self.gallery)
            derivation = principle_of(principle)[1](kinematics(s))
            return derivation_fields(derivation, latex=notation == "latex")

        return self._answer(ask)

    def verify(
        self,
        system: str,
        answer: str,
        of: str = "",
        let: dict[str, str] | None = None,
        marks: float = 0.0,
    ) -> Result:
        """Whether an answer (equations of motion or a quantity) is right, and which terms are
        wrong.
        """

        def ask() -> Result:
            s = system_of(system, self.folder, self.gallery)
            result = verify_answer(s, answer, of=of or None, let=let or {}, marks=marks or None)
            return _plain(result)

        return self._answer(ask)

    def agree(self, system: str) -> Result:
        """Every principle on one system, proved equal, with the bound of an error."""

        def ask() -> Result:
            table = agreement(system_of(system, self.folder, self.gallery))
            return {**_plain(table), "holds": table.holds, "statement": table.statement}

        return self._answer(ask)

    def check(self, system: str) -> Result:
        """Whether a model can be read and its elements fit together: coordinates, degrees of
        freedom, constraints, dimensions.
        """

        def ask() -> Result:
            s = system_of(system, self.folder, self.gallery)
            kin = kinematics(s)
            return {
                "system": s.name,
                "coordinates": [q.name for q in s.q],
                "bodies": [b.name for b in s.bodies],
                "degrees_of_freedom": len(kin.u),
                "constraints": [row.name for row in kin.rows],
                "dimensions": {name: str(d) for name, d in s.known_dimensions().items()}
                if s.dimensions
                else {},
            }

        return self._answer(ask)

    def simulate(
        self,
        system: str,
        duration: float = 10.0,
        start: dict[str, float] | None = None,
        values: dict[str, float] | None = None,
        points: int = 51,
    ) -> Result:
        """The motion at even times, with the error of the energy integral."""

        def ask() -> Result:
            if not 0 < duration <= LONGEST_RUN or not 2 <= points <= MOST_POINTS:
                msg = f"duration is at most {LONGEST_RUN:g} and points from 2 to {MOST_POINTS}"
                raise Unknown(msg)
            s = system_of(system, self.folder, self.gallery)
            times = [duration * k / (points - 1) for k in range(points)]
            run = run_system(
                s, duration, start=start or {}, values=values or {}, at=times, progress=False
            )
            columns = {str(q.name): [float(x) for x in run[q]] for q in s.q}
            return {
                "system": s.name,
                "t": [float(x) for x in run.t],
                "coordinates": columns,
                "summary": str(run),
            }

        return self._answer(ask)


def _plain(result: Any) -> Result:
    """The fields of a result as JSON has them."""
    data: Result = json.loads(as_json(result))
    return data
