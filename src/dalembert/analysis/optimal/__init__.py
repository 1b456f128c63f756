"""Motions of least cost: direct collocation with exact derivatives, and the audit of its answers.

optimize            da.optimize
phase               phases and links as they are described
point_equations     the equations of motion at one point, explicit or implicit
point_function      functions with sparse first and second derivatives at many points
phase_functions     a phase as such functions
link_functions      continuity and impacts between phases
scheme              Radau points and polynomials
transcription       phases on meshes as one nonlinear program
program             the sparse nonlinear program
boundary            dependent rows at the ends
solver              POUNCE, or Ipopt by casadi_solver
guess               where a search begins
mesh                refinement
warm_start          multipliers on another mesh
search              solve, estimate, refine
input_polynomials   optimal inputs as tables
replay, audit       the answer checked by the integrator
optimum, plotting   the answer, and pictures of it
"""
