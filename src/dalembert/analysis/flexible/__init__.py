"""Strings, bars, shafts and beams: as continua, in functions, and by themselves.

`hybrid/` applies Hamilton's extended principle and ends in ordinary and partial differential
equations with boundary conditions; `assumed_modes/` writes a member in admissible functions, whose
amplitudes are coordinates like any other; `linear_vibration/` is the theory of one member's small
motion, `modes/` its results: natural modes, static shapes, buckling loads.
"""
