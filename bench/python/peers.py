"""Programs of the table in Python: NumPy's matrix product (OpenBLAS), and Numba's and JAX's compilers for the others.

    peers.py --list                            what can be measured here: a name and a library in each line
    peers.py NAME -t FILE -r N < input > output

As the references in C (bench/c/bench.h): values in the binary format, times in microseconds, one a line. Everything runs once
before, as compilation is no part of a run. Threads are as many as OMP_NUM_THREADS says.
"""

import importlib.util
import math
import os
import struct
import sys
import time

THREADS = os.environ.get("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", THREADS)
os.environ.setdefault("MKL_NUM_THREADS", THREADS)
os.environ.setdefault("NUMBA_NUM_THREADS", THREADS)
os.environ["JAX_PLATFORMS"] = "cpu"

TYPES = {b" f32": "f4", b" f64": "f8", b" i32": "i4", b" i64": "i8"}


def read(file):
    """The next value: an array or a number."""
    import numpy as np

    while (first := file.read(1)) in b" \n" and first:
        pass
    version, rank = struct.unpack("<BB", file.read(2))
    kind = np.dtype(TYPES[file.read(4)])
    if first != b"b" or version != 2:
        sys.exit("no binary value")
    shape = struct.unpack(f"<{rank}q", file.read(8 * rank))
    data = np.frombuffer(file.read(kind.itemsize * math.prod(shape)), kind)
    return data.reshape(shape) if rank else data[0]


def write(file, value):
    import numpy as np

    value = np.ascontiguousarray(value)
    name = next(name for name, kind in TYPES.items() if np.dtype(kind) == value.dtype)
    # One dimension is made of none.
    shape = np.shape(value)
    file.write(b"b" + struct.pack("<BB", 2, len(shape)) + name)
    file.write(struct.pack(f"<{len(shape)}q", *shape) + value.tobytes())


def matmul(a, b):
    return lambda: (a @ b,)


def nbody(n, steps):
    import numba
    import numpy as np

    n, steps = int(n), int(steps)
    f = np.float32

    @numba.njit(parallel=True, fastmath=True)
    def forces(x, y, z, m, vx, vy, vz):
        for i in numba.prange(len(x)):
            ax = ay = az = f(0)
            xi, yi, zi = x[i], y[i], z[i]
            for j in range(len(x)):
                dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
                r2 = dx * dx + dy * dy + dz * dz + f(0.01)
                k = m[j] / (r2 * np.sqrt(r2))
                ax += k * dx
                ay += k * dy
                az += k * dz
            vx[i] += f(0.01) * ax
            vy[i] += f(0.01) * ay
            vz[i] += f(0.01) * az

    def run():
        t = (np.arange(n, dtype=f) + f(0.5)) / f(n)
        h = f(1) - f(2) * t
        r = np.sqrt(np.maximum(f(0), f(1) - h * h))
        angle = f(2.3999632) * np.arange(n, dtype=f)
        at = [r * np.cos(angle), r * np.sin(angle), h]
        mass = np.full(n, f(1) / f(n))
        speed = [np.zeros(n, f) for _ in range(3)]
        for _ in range(steps):
            forces(*at, mass, *speed)
            for k in range(3):
                at[k] = at[k] + f(0.01) * speed[k]
        return tuple(at)

    return run


def mandelbrot(width, height, limit):
    import numba
    import numpy as np

    width, height, limit = int(width), int(height), int(limit)
    f = np.float32

    @numba.njit(parallel=True, fastmath=True)
    def escape(out):
        step = f(2) / f(max(1, height - 1))
        left = f(-0.75) - step * f(width - 1) / f(2)
        for y in numba.prange(height):
            ci = step * f(y) - f(1)
            for x in range(width):
                cr = left + step * f(x)
                zr = zi = f(0)
                k = 0
                while k < limit and zr * zr + zi * zi <= f(4):
                    zr, zi = zr * zr - zi * zi + cr, f(2) * zr * zi + ci
                    k += 1
                out[y, x] = k

    def run():
        out = np.empty((height, width), np.int32)
        escape(out)
        return (out,)

    return run


def blackscholes(n, m):
    import numba
    import numpy as np

    n, m = int(n), int(m)
    f = np.float32

    @numba.njit(fastmath=True)
    def normal(d):
        k = f(1) / (f(1) + f(0.2316419) * abs(d))
        poly = f(1.781477937) + k * (f(-1.821255978) + k * f(1.330274429))
        poly = k * (f(0.31938153) + k * (f(-0.356563782) + k * poly))
        tail = f(0.39894228) * np.exp(f(-0.5) * d * d) * poly
        return f(1) - tail if d > 0 else tail

    @numba.njit(parallel=True, fastmath=True)
    def surface():
        total = 0.0
        rate, volatility, strike = f(0.03), f(0.25), f(100)
        for i in numba.prange(n):
            spot = f(50) + f(100) * f(i) / f(n)
            for j in range(m):
                years = f(0.1) + f(3) * f(j) / f(m)
                deviation = volatility * np.sqrt(years)
                d1 = (np.log(spot / strike) + (rate + f(0.5) * volatility * volatility) * years) / deviation
                discounted = strike * np.exp(-rate * years)
                total += np.float64(spot * normal(d1) - discounted * normal(d1 - deviation))
        return total / (n * m)

    return lambda: (np.float64(surface()),)


def mriq(kx, ky, kz, weight, xs, ys, zs):
    import jax
    import jax.numpy as jnp

    def place(x, y, z):
        angle = jnp.float32(2 * math.pi) * (kx * x + ky * y + kz * z)
        return jnp.sum(weight * jnp.cos(angle)), jnp.sum(weight * jnp.sin(angle))

    places = jax.jit(jax.vmap(place))
    return lambda: jax.block_until_ready(places(xs, ys, zs))


# Each program's library, and what makes it of its input.
PEERS = {
    "matmul": ("numpy", matmul),
    "nbody": ("numba", nbody),
    "mandelbrot": ("numba", mandelbrot),
    "blackscholes": ("numba", blackscholes),
    "mriq": ("jax", mriq),
}


def main():
    if sys.argv[1:] == ["--list"]:
        for name, (library, _) in PEERS.items():
            if all(importlib.util.find_spec(needed) for needed in ("numpy", library)):
                print(name, library)
        return
    name, options = sys.argv[1], dict(zip(sys.argv[2::2], sys.argv[3::2]))
    given = []
    while sys.stdin.buffer.peek(1):
        given.append(read(sys.stdin.buffer))
    run = PEERS[name][1](*given)
    result = run()
    with open(options["-t"], "w", encoding="ascii") as times:
        for _ in range(int(options["-r"])):
            start = time.perf_counter()
            result = run()
            times.write(f"{round((time.perf_counter() - start) * 1e6)}\n")
    for value in result:
        write(sys.stdout.buffer, value)


main()
