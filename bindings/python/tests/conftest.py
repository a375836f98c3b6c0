"""What all tests share: programs on each target."""

import arrc
import pytest

TARGETS = ["cpu", "interp", "ptx-emu"]


@pytest.fixture(params=TARGETS)
def target(request):
    """Every target that any computer has."""
    return request.param


@pytest.fixture
def compiled(target):
    """Compiles a text for the target."""
    return lambda text, **options: arrc.compile(text, target=target, threads=2, **options)
