"""The package itself: documentation, types, examples."""

import ast
import doctest
import importlib
import inspect
import pathlib
import pkgutil

import arrc
import arrc._arrc
import pytest

HERE = pathlib.Path(__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page():
    return HERE.parents[2] / "docs" / "python.md"


def test_the_examples_of_the_page():
    lines = page().read_text().splitlines()
    text = "\n".join("" if line.startswith("```") else line for line in lines)
    examples = doctest.DocTestParser().get_doctest(text, {}, page().name, str(page()), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples)
    done = runner.summarize()
    assert done.failed == 0 and done.attempted >= 30


@pytest.mark.parametrize("module", [m.name for m in pkgutil.iter_modules(arrc.__path__) if m.name != "_arrc"] + [""])
def test_the_examples_of_modules(module):
    module = importlib.import_module(f"arrc.{module}" if module else "arrc")
    assert module.__doc__
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


def test_everything_is_documented():
    for name in arrc.__all__:
        thing = getattr(arrc, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        members = vars(thing).items() if inspect.isclass(thing) else []
        for member, what in members:
            is_ours = not member.startswith("_") and (inspect.isfunction(what) or isinstance(what, (property, classmethod)))
            assert not is_ours or what.__doc__, f"{name}.{member}"


def test_the_stub_is_what_the_extension_has():
    stub = ast.parse((pathlib.Path(arrc.__file__).parent / "_arrc.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    for name, node in classes.items():
        real = getattr(arrc._arrc, name)
        have = {m for m in vars(real) if not m.startswith("_") or m == "__array_interface__"}
        said = {f.name for f in node.body if isinstance(f, ast.FunctionDef) and f.name != "__init__"}
        assert have == said, name
    have = {name for name in vars(arrc._arrc) if inspect.isclass(getattr(arrc._arrc, name))}
    assert have == set(classes)


def test_numpy_is_imported_when_it_is_needed():
    import subprocess
    import sys

    script = "import sys, arrc; f = arrc.compile('entry f (x: i32) = x + 1', target='cpu').f; print(f(1), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["2", "False"], done.stderr
