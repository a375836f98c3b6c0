"""Eight usual jobs in arrc, NumPy, Numba and JAX on the same data.

    OMP_NUM_THREADS=2 python bindings/python/bench/jobs.py [--runs 9] [--small] [JOB ...]

Each library is warmed up once, so that compilation is no part of a run; then the libraries take turns, and the fastest run of each counts. Results are compared with those of NumPy. `--small` is a test of this script: a run on little data.
"""

import argparse
import os
import pathlib
import statistics
import time

THREADS = os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("NUMBA_NUM_THREADS", THREADS)
os.environ.setdefault("OPENBLAS_NUM_THREADS", THREADS)
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

import arrc

try:
    import numba
except ImportError:
    numba = None
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None

RNG = np.random.default_rng(42)
f4 = np.float32


def jitted(**options):
    """Numba's compiler, or nothing."""
    return numba.njit(parallel=True, fastmath=True, **options) if numba else lambda f: None


def accelerated(**options):
    """JAX's compiler, or nothing."""
    return (lambda f: jax.jit(f, **options)) if jax else lambda f: None


# Black-Scholes


def black_scholes_data(small):
    n = 1000 if small else 1 << 22
    return tuple(RNG.uniform(low, high, n).astype(f4) for low, high in ((50, 150), (50, 150), (0.1, 3)))


def black_scholes_of(xp):
    def normal(d):
        k = 1 / (1 + f4(0.2316419) * xp.abs(d))
        poly = k * (f4(0.31938153) + k * (f4(-0.356563782) + k * (f4(1.781477937) + k * (f4(-1.821255978) + k * f4(1.330274429)))))
        tail = f4(0.39894228) * xp.exp(f4(-0.5) * d * d) * poly
        return xp.where(d > 0, 1 - tail, tail)

    def prices(spots, strikes, years):
        deviation = f4(0.25) * xp.sqrt(years)
        d1 = (xp.log(spots / strikes) + f4(0.06125) * years) / deviation
        return spots * normal(d1) - strikes * xp.exp(f4(-0.03) * years) * normal(d1 - deviation)

    return prices


@jitted()
def black_scholes_numba(spots, strikes, years):
    out = np.empty_like(spots)
    for i in numba.prange(len(spots)):
        deviation = f4(0.25) * np.sqrt(years[i])
        d1 = (np.log(spots[i] / strikes[i]) + f4(0.06125) * years[i]) / deviation
        both = f4(0)
        for side in range(2):
            d = d1 - deviation if side else d1
            k = f4(1) / (f4(1) + f4(0.2316419) * abs(d))
            poly = f4(1.781477937) + k * (f4(-1.821255978) + k * f4(1.330274429))
            poly = k * (f4(0.31938153) + k * (f4(-0.356563782) + k * poly))
            tail = f4(0.39894228) * np.exp(f4(-0.5) * d * d) * poly
            p = f4(1) - tail if d > 0 else tail
            both += -strikes[i] * np.exp(f4(-0.03) * years[i]) * p if side else spots[i] * p
        out[i] = both
    return out


# k-means


def k_means_data(small):
    n, k, d = (100, 3, 2) if small else (400_000, 16, 8)
    points = RNG.random((n, d), dtype=f4)
    return points, points[:k].copy()


def k_means_numpy(points, centres):
    squares = (points * points).sum(1)[:, None] - 2 * points @ centres.T + (centres * centres).sum(1)
    members = squares.argmin(1)
    counts = np.bincount(members, minlength=len(centres))
    sums = np.stack([np.bincount(members, points[:, j], len(centres)) for j in range(points.shape[1])], 1)
    return (sums / np.maximum(1, counts)[:, None]).astype(f4)


@jitted()
def k_means_numba(points, centres):
    (n, d), k = points.shape, len(centres)
    parts = numba.get_num_threads()
    sums, counts = np.zeros((parts, k, d), f4), np.zeros((parts, k), f4)
    for part in numba.prange(parts):
        for i in range(part * n // parts, (part + 1) * n // parts):
            best, at = f4(np.inf), 0
            for c in range(k):
                x = f4(0)
                for j in range(d):
                    x += (points[i, j] - centres[c, j]) ** 2
                if x < best:
                    best, at = x, c
            counts[part, at] += f4(1)
            for j in range(d):
                sums[part, at, j] += points[i, j]
    for part in range(1, parts):
        for c in range(k):
            counts[0, c] += counts[part, c]
            for j in range(d):
                sums[0, c, j] += sums[part, c, j]
    for c in range(k):
        for j in range(d):
            sums[0, c, j] /= max(f4(1), counts[0, c])
    return sums[0]


@accelerated()
def k_means_jax(points, centres):
    squares = (points * points).sum(1)[:, None] - 2 * points @ centres.T + (centres * centres).sum(1)
    members = squares.argmin(1)
    counts = jnp.zeros(len(centres), f4).at[members].add(1)
    sums = jnp.zeros_like(centres).at[members].add(points)
    return sums / jnp.maximum(1, counts)[:, None]


# n-body


def n_body_data(small):
    n = 50 if small else 4096
    return tuple(RNG.random(n, dtype=f4) for _ in range(4))


def n_body_of(xp):
    def accelerations(x, y, z, mass):
        dx, dy, dz = (xp.expand_dims(c, 0) - xp.expand_dims(c, 1) for c in (x, y, z))
        r2 = dx * dx + dy * dy + dz * dz + f4(0.01)
        f = mass / (r2 * xp.sqrt(r2))
        return (f * dx).sum(1), (f * dy).sum(1), (f * dz).sum(1)

    return accelerations


@jitted()
def n_body_numba(x, y, z, mass):
    ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for i in numba.prange(len(x)):
        sx = sy = sz = f4(0)
        for j in range(len(x)):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + f4(0.01)
            f = mass[j] / (r2 * np.sqrt(r2))
            sx += f * dx
            sy += f * dy
            sz += f * dz
        ax[i], ay[i], az[i] = sx, sy, sz
    return ax, ay, az


# Histogram


def histogram_data(small):
    return (RNG.integers(0, 256, 1000 if small else 1 << 24).astype(np.uint8),)


@jitted()
def histogram_numba(xs):
    parts = numba.get_num_threads()
    counts = np.zeros((parts, 256), np.int64)
    for part in numba.prange(parts):
        for i in range(part * len(xs) // parts, (part + 1) * len(xs) // parts):
            counts[part, xs[i]] += 1
    return counts.sum(0)


# Stencil


def stencil_data(small):
    n = 20 if small else 2048
    return RNG.random((n, n), dtype=f4), 10


def stencil_numpy(grid, steps):
    for _ in range(steps):
        new = grid.copy()
        inner = grid[1:-1, 1:-1] + grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        new[1:-1, 1:-1] = f4(0.2) * inner
        grid = new
    return grid


@jitted()
def stencil_numba(grid, steps):
    grid = grid.copy()
    new = grid.copy()
    for _ in range(steps):
        for i in numba.prange(1, grid.shape[0] - 1):
            for j in range(1, grid.shape[1] - 1):
                new[i, j] = f4(0.2) * (grid[i, j] + grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1])
        grid, new = new, grid
    return grid


def stencil_jax(grid, steps):
    def step(_, grid):
        inner = grid[1:-1, 1:-1] + grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
        return grid.at[1:-1, 1:-1].set(f4(0.2) * inner)

    return jax.lax.fori_loop(0, steps, step, grid)


# Sparse product


def sparse_data(small):
    n = 100 if small else 200_000
    lengths = RNG.integers(0, 32, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = RNG.integers(0, n, offsets[-1]).astype(np.int32)
    values = RNG.random(offsets[-1])
    return offsets, columns, values, RNG.random(n)


def sparse_numpy(offsets, columns, values, x):
    products = values * x[columns]
    sums = np.concatenate([[0], np.cumsum(products)])
    return sums[offsets[1:]] - sums[offsets[:-1]]


@jitted()
def sparse_numba(offsets, columns, values, x):
    out = np.empty(len(offsets) - 1)
    for i in numba.prange(len(out)):
        total = 0.0
        for e in range(offsets[i], offsets[i + 1]):
            total += values[e] * x[columns[e]]
        out[i] = total
    return out


def sparse_jax(offsets, columns, values, x):
    rows = jnp.repeat(jnp.arange(len(offsets) - 1), jnp.diff(offsets), total_repeat_length=len(values))
    return jax.ops.segment_sum(values * x[columns], rows, len(offsets) - 1, indices_are_sorted=True)


# Sort


def sort_data(small):
    return (RNG.integers(0, 1 << 32, 1000 if small else 1 << 22, dtype=np.uint32),)


@jitted()
def sort_numba(xs):
    half = len(xs) // 2
    sorted = xs.copy()
    for part in numba.prange(2):
        if part == 0:
            sorted[:half].sort()
        else:
            sorted[half:].sort()
    out = np.empty_like(xs)
    i, j = 0, half
    for k in range(len(xs)):
        if j == len(xs) or (i < half and sorted[i] <= sorted[j]):
            out[k] = sorted[i]
            i += 1
        else:
            out[k] = sorted[j]
            j += 1
    return out


# Sliding windows


def windows_data(small):
    return (RNG.random(1000 if small else 1 << 22, dtype=f4),)


@jitted()
def windows_numba(xs):
    out = np.empty(len(xs) - 31, xs.dtype)
    for i in numba.prange(len(out)):
        largest = xs[i]
        for j in range(1, 32):
            largest = max(largest, xs[i + j])
        out[i] = largest
    return out


def windows_jax(xs):
    return jax.lax.reduce_window(xs, -jnp.inf, jax.lax.max, (32,), (1,), "VALID")


def windows_numpy(xs):
    return np.lib.stride_tricks.sliding_window_view(xs, 32).max(1)


def jax_of(f, **options):
    return jax.jit(f, **options) if jax else None


def peers():
    """For each job: its data, and what does it in each library."""
    return {
        "black_scholes": (black_scholes_data, black_scholes_of(np), black_scholes_numba, jax and jax_of(black_scholes_of(jnp))),
        "k_means": (k_means_data, k_means_numpy, k_means_numba, k_means_jax),
        "n_body": (n_body_data, n_body_of(np), n_body_numba, jax and jax_of(n_body_of(jnp))),
        "histogram": (
            histogram_data,
            lambda xs: np.bincount(xs, minlength=256),
            histogram_numba,
            jax_of(lambda xs: jnp.bincount(xs, length=256)),
        ),
        "stencil": (stencil_data, stencil_numpy, stencil_numba, jax_of(stencil_jax, static_argnums=1)),
        "sparse": (sparse_data, sparse_numpy, sparse_numba, jax_of(sparse_jax)),
        "sort": (sort_data, np.sort, sort_numba, jax_of(lambda xs: jnp.sort(xs))),
        "windows": (windows_data, windows_numpy, windows_numba, jax_of(windows_jax)),
    }


def arrays(result):
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def measure(name, runs, small):
    """The least milliseconds of a run, by library."""
    lib = arrc.compile(pathlib.Path(__file__).with_name("jobs.fut"), target="cpu", threads=int(THREADS))
    data, with_numpy, with_numba, with_jax = peers()[name]
    data = data(small)
    ours = (arrc.Ragged(data[0], (data[1], data[2])), data[3]) if name == "sparse" else data
    calls = {"arrc": lambda: lib[name](*ours), "NumPy": lambda: with_numpy(*data)}
    if numba:
        calls["Numba"] = lambda: with_numba(*data)
    if jax:
        there = tuple(jax.device_put(part) if isinstance(part, np.ndarray) else part for part in data)
        calls["JAX"] = lambda: jax.block_until_ready(with_jax(*there))
    expected = arrays(calls["NumPy"]())
    for library, call in calls.items():
        for have, want in zip(arrays(call()), expected, strict=True):
            np.testing.assert_allclose(have, want, rtol=2e-3, atol=1e-3, err_msg=f"{name} in {library}")
    times = {library: [] for library in calls}
    for _ in range(runs):
        for library, call in calls.items():
            begun = time.perf_counter()
            call()
            times[library].append(time.perf_counter() - begun)
    return {library: 1e3 * min(all) for library, all in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(peers()))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    if jax:
        jax.config.update("jax_enable_x64", True)
    table = {name: measure(name, 1 if options.small else options.runs, options.small) for name in options.jobs or peers()}
    libraries = list(next(iter(table.values())))
    print(f"| job, ms | {' | '.join(libraries)} |\n|---|{'---|' * len(libraries)}")
    for name, row in table.items():
        print(f"| {name.replace('_', '-')} | {' | '.join(f'{row[library]:.2f}' for library in libraries)} |")
    means = {library: statistics.geometric_mean(row[library] / row["arrc"] for row in table.values()) for library in libraries}
    print(f"| mean of the ratios to arrc | {' | '.join(f'{means[library]:.2f}' for library in libraries)} |")


if __name__ == "__main__":
    main()
