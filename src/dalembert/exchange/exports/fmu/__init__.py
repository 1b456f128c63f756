"""FMU 2.0 and 3.0, model exchange and co-simulation: sources, description, and the binary of
this machine.
"""

from dalembert.exchange.exports.fmu.fmu_archive import files

__all__ = ["files"]
