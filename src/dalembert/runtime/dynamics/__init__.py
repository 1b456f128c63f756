"""Compiled forward dynamics of a system: u̇ = f(q, u, t)."""
