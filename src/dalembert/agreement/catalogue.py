"""The principles dalembert knows, in the order they are shown."""

from __future__ import annotations

from dalembert.principles import central_equation, dalembert, gauss, gibbs_appell, hamilton, jourdain, kane, lagrange, maggi
from dalembert.principles.base import Derive, Principle

PRINCIPLES: tuple[tuple[Principle, Derive], ...] = (
    (kane.PRINCIPLE, kane.kane),
    (jourdain.PRINCIPLE, jourdain.jourdain),
    (dalembert.PRINCIPLE, dalembert.dalembert),
    (central_equation.PRINCIPLE, central_equation.central_equation),
    (gibbs_appell.PRINCIPLE, gibbs_appell.gibbs_appell),
    (gauss.PRINCIPLE, gauss.gauss),
    (lagrange.PRINCIPLE, lagrange.lagrange),
    (maggi.PRINCIPLE, maggi.maggi),
    (hamilton.PRINCIPLE, hamilton.hamilton),
)
