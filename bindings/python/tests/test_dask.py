"""Programs on the workers of Dask."""

import arrc
import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

TEXT = """
entry scaled [n] (xs: [n]f64) (k: f64) : [n]f64 = map (* k) xs
entry total [n] (xs: [n]f64) : f64 = f64.sum xs
entry plus (x: f64) (y: f64) : f64 = x + y
entry columns [n][m] (xss: [n][m]f64) : [m]f64 = map f64.sum (transpose xss)
"""


@pytest.fixture(scope="module")
def client():
    import arrc.dask

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "processes": True}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def numbers():
    return np.random.default_rng(1).random(10_000)


def test_blocks(client):
    lib = arrc.compile(TEXT, target="cpu", threads=1)
    x = da.from_array(numbers(), chunks=1234)
    y = arrc.dask.map_blocks(lib.scaled, x, 3.0)
    assert y.dtype == np.float64 and y.chunks == x.chunks
    assert (y.compute() == numbers() * 3).all()


def test_reductions_have_the_same_bits_however_many_workers_there_are(client):
    lib = arrc.compile(TEXT, target="cpu", threads=1)
    x = da.from_array(numbers(), chunks=777)
    total = arrc.dask.reduce(lib.total, lib.plus, x)
    bits = {float(total.compute()).hex(), float(total.compute(scheduler="synchronous")).hex()}
    workers = sorted(client.scheduler_info()["workers"])
    bits.add(float(client.compute(total, workers=workers[:1]).result()).hex())
    assert len(bits) == 1
    assert float(total.compute()) == pytest.approx(numbers().sum())
