"""The principles dalembert knows, in the order they are shown."""

from __future__ import annotations

from dalembert.principles import kane, lagrange
from dalembert.principles.base import Derive, Principle

PRINCIPLES: tuple[tuple[Principle, Derive], ...] = (
    (kane.PRINCIPLE, kane.kane),
    (lagrange.PRINCIPLE, lagrange.lagrange),
)
