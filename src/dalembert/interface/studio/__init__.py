"""Studio: type a model, see its equations and its motion.

A local server with a page: the editor is on the left, what the model means on the right. Model
files are data; a worker process derives, simulates and draws them, and is replaced if it does not
answer.
"""
