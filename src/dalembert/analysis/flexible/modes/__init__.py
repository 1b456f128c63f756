"""Results for one member: natural modes, static shapes, buckling loads."""
