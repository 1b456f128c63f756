"""What is asked of one member: natural modes, static shapes, buckling loads."""
