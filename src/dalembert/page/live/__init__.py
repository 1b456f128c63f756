"""The page that lives: equations, loop, start and what is drawn as one WebAssembly module, and the panel that runs it."""
