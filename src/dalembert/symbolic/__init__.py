"""Symbols and dimensions: the expression tape, exact arithmetic, printing, units."""
