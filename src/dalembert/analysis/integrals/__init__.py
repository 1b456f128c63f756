"""Energy integrals and first integrals: which are constant, why, and what they say about a run.

`energies` gives K₂, K₁, K₀, σ and the powers in the chosen speeds, `energy_integrals` and `decide`
the six integrals and their verdicts, `first_integrals` and `symmetry` momenta that are kept.
`audit` tells model error, constraint drift and integrator error apart after a run and holds an
integrator to an integral, `conservative` finds loads that have a potential though nobody declared
it.
"""
