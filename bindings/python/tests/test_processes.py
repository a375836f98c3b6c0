"""Threads, processes and signals."""

import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import arrc
import numpy as np
import pytest

SUM = "entry f [n] (xs: [n]i64) = i64.sum (map (* 3) xs)"
# Python and JAX warn of forks in processes with threads, which is what is tested.
FORKS = pytest.mark.filterwarnings("ignore:.*fork")
LONG = "entry long (n: i64) = loop x = 1i64 for i < n do (x * 7 + i) % 1000003"


def in_child(work):
    """The exit code of a child that does the work; a child that hangs is ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as why:
            os.write(2, f"{why!r}\n".encode())
            os._exit(1)
    for _ in range(1000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "it hangs"


@FORKS
def test_forks(compiled, target):
    if target == "ptx":
        pytest.skip("the driver of a GPU does not work in forks")
    lib = compiled(SUM)
    xs = np.arange(1_000_000 if "cpu" in repr(lib._options) else 1000)
    expected = lib.f(xs)
    kept = compiled("entry g [n] (xs: [n]i64) = map (+ 1) xs").g(xs)

    def work():
        assert lib.f(xs) == expected
        assert lib.f(kept) == expected + 3 * len(xs)
        assert arrc.compile(SUM, target="cpu", threads=2).f(xs) == expected
        assert in_child(lambda: lib.f(xs)) == 0

    assert in_child(work) == 0
    assert lib.f(xs) == expected


@FORKS
def test_forks_while_a_thread_calls():
    lib = arrc.compile(SUM, target="cpu", threads=2)
    xs = np.arange(3_000_000)
    expected = lib.f(xs)
    stop = threading.Event()

    def calls():
        while not stop.is_set():
            assert lib.f(xs) == expected

    thread = threading.Thread(target=calls)
    thread.start()
    try:
        for _ in range(5):
            assert in_child(lambda: lib.f(xs) == expected or os._exit(3)) == 0
    finally:
        stop.set()
        thread.join()


def test_several_threads_call_at_once(compiled):
    lib = compiled("entry f [n] (xs: [n]i64) (k: i64) = map (* k) xs")
    wrong = []

    def calls(k):
        xs = np.arange(100 + k)
        for _ in range(20):
            if (lib.f(xs, k).numpy() != xs * k).any():
                wrong.append(k)

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_the_interpreter_goes_on_while_a_program_runs():
    lib = arrc.compile(LONG, target="cpu")
    lib.long(10)
    thread = threading.Thread(target=lambda: lib.long(200_000_000))
    thread.start()
    steps = 0
    while thread.is_alive() and steps < 20:
        time.sleep(0.001)
        steps += 1
    thread.join()
    assert steps == 20


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_ctrl_c(target):
    script = f"""
        import arrc, os, signal, threading, time
        # Ignored where a shell started the tests in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        lib = arrc.compile({LONG!r}, target={target!r})
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        try:
            lib.long(10**15)
        except KeyboardInterrupt:
            assert time.monotonic() - begun < 20
            print("stopped", lib.long(3))
        # Somebody else's handler is called, too, and what it raises counts.
        def handler(number, frame):
            raise TimeoutError("mine")
        signal.signal(signal.SIGINT, handler)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            lib.long(10**15)
        except TimeoutError as why:
            print(why)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["stopped", "408", "mine"] or done.stdout.split()[::2] == ["stopped", "mine"], done.stderr


def test_programs_pickle(tmp_path, compiled):
    lib = compiled(SUM)
    copy = pickle.loads(pickle.dumps(lib))
    assert copy.f([1, 2]) == 9 and copy._options == lib._options
    assert pickle.loads(pickle.dumps(lib.f))([1, 2]) == 9
    (tmp_path / "two.fut").write_text("def two = 2i64")
    file = tmp_path / "prog.fut"
    file.write_text('import "two"\nentry f (x: i64) = x * two')
    assert pickle.loads(pickle.dumps(arrc.compile(file))).f(3) == 6
    xs = compiled("entry g (n: i64) = iota n").g(3)
    assert pickle.loads(pickle.dumps(xs)).tolist() == [0, 1, 2]


def test_another_process_runs_a_pickled_program():
    lib = arrc.compile(SUM, target="cpu", threads=1)
    script = "import pickle, sys; f = pickle.load(sys.stdin.buffer); print(f([1, 2, 3]))"
    done = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(lib.f), capture_output=True, timeout=60)
    assert done.stdout.strip() == b"18", done.stderr
