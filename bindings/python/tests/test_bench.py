"""The scripts that measure do what they say: on little data, each job with the results of NumPy."""

import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).parents[1] / "bench"


def test_jobs():
    command = [sys.executable, str(BENCH / "jobs.py"), "--small"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 10 and "arrc" in rows[0]
