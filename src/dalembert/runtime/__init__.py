"""Native code and motion: compilation, initial conditions, integration, contact."""
