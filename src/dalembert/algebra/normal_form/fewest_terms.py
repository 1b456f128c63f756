"""The fewest terms that say the same: of powers, sums of angles and waves the shortest, for each product of symbols."""

from __future__ import annotations

from dalembert.algebra.normal_form.angles import Rational, Rest, Sum, Turns, merged
from dalembert.algebra.normal_form.product_to_sum import as_waves

LONGEST_GROUP = 40


def shortest(terms: Sum) -> Sum:
    """The same sum; waves are tried only where a product of symbols still has several trigonometric terms."""
    groups: dict[Rest, dict[Turns, Rational]] = {}
    for (rest, turns), k in merged(terms).items():
        groups.setdefault(rest, {})[turns] = k
    for rest, group in groups.items():
        if 1 < len(group) <= LONGEST_GROUP and _angle_count(group) > 1:
            waves = as_waves(group)
            if waves is not None and len(waves) < len(group):
                groups[rest] = waves
    return {(rest, turns): k for rest, group in groups.items() for turns, k in group.items()}


def _angle_count(group: dict[Turns, Rational]) -> int:
    return len({a for turns in group for angle, _, _ in turns for a, _ in angle})
