"""Results as JSON: the fields of a result by name, numbers as numbers, expressions as text, a
table as one object for each row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Rational
from typing import Any

from dalembert.interface.report.document_blocks import FormulaSpan, TableBlock, VerdictSpan
from dalembert.symbolic.algebra.formula import Formula


def as_json(result: Any, **more: Any) -> str:
    """The text, ending in a line feed; what is not finite is null, a complex number {"re": …,
    "im": …}.
    """
    data = {**_to_json_data(result), **_to_json_data(more)} if more else _to_json_data(result)
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _to_json_data(x: Any) -> Any:
    if x is None or isinstance(x, bool | str):
        return x
    if hasattr(x, "tolist"):
        # numbers and arrays of NumPy
        x = x.tolist()
    if isinstance(x, Rational):
        return int(x.numerator) if x.denominator == 1 else float(x)
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    if isinstance(x, complex):
        return {"re": _to_json_data(x.real), "im": _to_json_data(x.imag)}
    if isinstance(x, Enum):
        return _to_json_data(x.value)
    if isinstance(x, TableBlock):
        return [dict(zip(x.headings, map(_to_json_data, row), strict=True)) for row in x.rows]
    if isinstance(x, FormulaSpan | VerdictSpan):
        from dalembert.interface.report.terminal_renderer import span_text

        return span_text(x)
    if isinstance(x, Formula):
        from dalembert.symbolic.algebra.printing.formula_layout import formula_text

        return formula_text(x)
    if isinstance(x, Mapping):
        return {str(name): _to_json_data(value) for name, value in x.items()}
    if hasattr(x, "_asdict"):
        return _to_json_data(x._asdict())
    if isinstance(x, Sequence | AbstractSet):
        return [_to_json_data(each) for each in x]
    if is_dataclass(x) and not hasattr(x, "tape"):
        return {
            f.name: _to_json_data(getattr(x, f.name))
            for f in fields(x)
            if f.repr and not f.name.startswith("_")
        }
    return str(x)
