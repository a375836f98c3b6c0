"""What all tests share: programs on each target. `ARRC_TARGETS=ptx` has them on a GPU."""

import os

import arrc
import pytest

TARGETS = os.environ.get("ARRC_TARGETS", "cpu,interp,ptx-emu").split(",")


@pytest.fixture(params=TARGETS)
def target(request):
    """Every target that any computer has."""
    return request.param


@pytest.fixture
def compiled(target):
    """Compiles a text for the target."""
    return lambda text, **options: arrc.compile(text, target=target, threads=2, **options)
