"""Files and functions stay small, and their names come from the field."""

import ast
import re

LONGEST_FILE = 500
LONGEST_FUNCTION = 80
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "manager", "managers", "service", "services", "runner", "runners"}


def test_no_source_file_is_longer_than_the_hard_limit(product):
    lengths = {source.name: len(source.text.splitlines()) for source in product}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_the_hard_limit(product):
    found = []
    for source in product:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    found.append(source.at(node, f"{node.name} has {length} lines"))
    assert found == []


def test_no_module_or_class_has_a_name_that_says_nothing(product):
    found = []
    for source in product:
        names = [part.removesuffix(".py") for part in source.parts[2:]]
        found += [f"{source.name}: {name}" for name in names if EMPTY_WORDS & set(name.lower().split("_"))]
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                words = {word.lower() for word in re.findall(r"[A-Z][a-z]+", node.name)}
                if EMPTY_WORDS & words:
                    found.append(source.at(node, node.name))
    assert found == []
