"""x(T) = x(0): periodic motions, their multipliers, and families of them."""
