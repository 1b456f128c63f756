"""The page that lives: equations, loop, start and what is drawn as one WebAssembly module, and the
panel that runs it.

`motion` is the run as functions in LLVM text, `beginning` its start, `happenings` its events,
`drawn` what is drawn and plotted at any state. `parts/reproduction` joins them to the module and
writes the panel "Try it".
"""
