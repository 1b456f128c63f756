"""What the constraint rows of a system say together: freedoms, redundancy, integrability."""
