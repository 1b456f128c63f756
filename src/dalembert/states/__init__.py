"""States of a system: values for its symbols, any expression at a state, positions assembled, a consistent start.

Statics, linearization and runs begin here; nothing in this chapter integrates.
"""
