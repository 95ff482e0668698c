"""There is one tree of errors, and the page that draws it is true."""

import ast
import re

ERRORS = "src/reverie/core/errors.py"
ROOT_ERROR = "ReverieError"
DRAWN = re.compile(r"^(?P<art>[^A-Za-z]*)(?P<name>[A-Z][A-Za-z]+)\b")


def last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def error_classes(sources):
    """Return {name: names of its bases} for every class below the root error, wherever it is defined."""
    bases = {
        node.name: [last_name(base) for base in node.bases]
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
    }
    tree = {ROOT_ERROR} & set(bases)
    while True:
        below = {name for name, parents in bases.items() if name not in tree and tree & set(parents)}
        if not below:
            return {name: bases[name] for name in sorted(tree)}
        tree |= below


def drawn_parents(docstring, names):
    """Return {name: names drawn as its parent}, read from the indentation of the drawing."""
    above = []
    parents = {}
    for line in docstring.splitlines():
        match = DRAWN.match(line)
        if match is None or match["name"] not in names:
            continue
        depth = len(match["art"])
        while above and above[-1][0] >= depth:
            above.pop()
        parents.setdefault(match["name"], set()).add(above[-1][1] if above else None)
        above.append((depth, match["name"]))
    return parents


def test_every_public_error_is_drawn_below_its_base(product):
    classes = {name: bases for name, bases in error_classes(product).items() if not name.startswith("_")}
    docstring = ast.get_docstring(next(source for source in product if source.name == ERRORS).tree) or ""
    parents = drawn_parents(docstring, set(classes))
    assert ROOT_ERROR in classes
    assert [name for name in classes if name not in parents] == []
    wrong = {
        name: parents[name] for name, bases in classes.items() if name != ROOT_ERROR and not parents[name] & set(bases)
    }
    assert wrong == {}


def test_every_error_says_when_it_comes(product):
    classes = set(error_classes(product))
    mute = [
        source.at(node, node.name)
        for source in product
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name in classes and not ast.get_docstring(node)
    ]
    assert mute == []


def test_no_exception_stands_outside_the_tree(product):
    classes = set(error_classes(product))
    strangers = [
        source.at(node, node.name)
        for source in product
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and node.name not in classes
        and any(last_name(base) == "Exception" or last_name(base).endswith("Error") for base in node.bases)
    ]
    assert strangers == []


def test_an_error_drawn_in_the_wrong_place_is_noticed():
    drawing = "ReverieError\n├── ConfigError\n│   └── ConfigKeyError\n└── StoreError"
    names = {"ReverieError", "ConfigError", "ConfigKeyError", "StoreError"}
    assert drawn_parents(drawing, names) == {
        "ReverieError": {None},
        "ConfigError": {"ReverieError"},
        "ConfigKeyError": {"ConfigError"},
        "StoreError": {"ReverieError"},
    }
