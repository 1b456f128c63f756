"""From a description to its equations of motion, by every principle, and their agreement."""
