"""The page that lives: equations, loop, start and what is drawn as one WebAssembly module, and the
panel that runs it.

`integrator_module` is the run as functions in LLVM text, `initial_conditions` its start, `events`
its events, `outputs` what is drawn and plotted at any state. The page's simulator_module.py joins
them to the module and writes the panel "Try it".
"""
