"""Questions about a described system: integrals, equilibria, linear models, studies, orbits."""
