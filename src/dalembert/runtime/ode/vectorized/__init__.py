"""Vectorized (SIMD) runs: y' = f(t, y, p) for members that differ in y₀ and p, one in each lane of
the processor's vectors.

Each lane has its own time, step size and error control; a finished lane is refilled with the next
member. Every operation is the one that the loop for a single run does, on the same numbers in the
same order, so that a member's bits do not depend on its neighbours.

layout    what lies where in a worker's memory, and the table of results
step      a step of all lanes, with masks instead of branches
taylor    the same by Taylor's method
watch     what is kept of the motion between the ends of steps
loop      lanes filled, begun, stepped and emptied
program   all of it as one library, and the workers that run it
"""
