"""The constrained form: ż and λ from M ż = f + Aᵀλ, A ż + γ = 0, every rate in the state."""
