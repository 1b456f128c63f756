"""Energy integrals and first integrals: which are constant, why, and what they say about a run.

`energies` gives K₂, K₁, K₀, σ and the powers in the chosen speeds, `energy_integrals` the six
integrals and their verdicts. `conservative_terms` splits the loads by terms, `conservative_loads`
decides about single loads, `classical_potential` whether U exists. `first_integrals` and `symmetry`
give momenta that are constant. `run_integrals` separates model error, constraint drift and
integrator error of a run and limits the energy error of an integrator.
"""
