"""The equations in the tools where people work: one straight-line program, written in each tool's
own language.

`contents.py` gathers what is exported (rates, mass matrix, rows, projection, energies, outputs) on
one tape; `straight_line.py` lowers it as native code is lowered; every other file is one language.
A new language is one file and a line in `formats.py`.
"""
