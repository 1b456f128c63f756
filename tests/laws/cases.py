"""Every system of the gallery, and the variants that exercise something more."""

from collections.abc import Callable

from dalembert import gallery
from dalembert.gallery import (
    double_pendulum,
    free_body,
    pendulum_absolute,
    pendulum_relative,
    positioning_device,
    spatial_chain,
)
from dalembert.mechanics.model.system import System

VARIANTS: dict[str, Callable[[], System]] = {
    "double-pendulum, absolute": lambda: double_pendulum.build(angles="absolute"),
    "free-body, rates": lambda: free_body.build(speeds="rates"),
    "pendulum-absolute, 2": lambda: pendulum_absolute.build(2),
    "pendulum-relative, 2": lambda: pendulum_relative.build(2),
    "positioning-device, rigid": lambda: positioning_device.build(rigid=True),
    "positioning-device, unbound": lambda: positioning_device.build(Omega=None),
    "spatial-chain, symbolic": lambda: spatial_chain.build(2, symbolic=True),
}
BUILDERS: dict[str, Callable[[], System]] = {
    name: gallery.entry(name).build for name in gallery.names()
} | VARIANTS
NAMES = sorted(BUILDERS)


def build(name: str) -> System:
    """The system of that name."""
    return BUILDERS[name]()
