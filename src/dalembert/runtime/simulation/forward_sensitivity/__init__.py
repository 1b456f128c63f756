"""∂(q, u)/∂p along a run: the equations of motion varied, their start, their jumps at events,
and how they are read.
"""
