"""Text is UTF-8 because the code says so, and the time comes from one place."""

import ast

import pytest

CLOCK = "src/reverie/core/clock.py"
TEXT_METHODS = {"read_text", "write_text"}
PROCESS_CALLS = {"run", "Popen", "check_output", "check_call"}
TIME_OF_DAY = {
    "date.today",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "time.ctime",
    "time.gmtime",
    "time.localtime",
    "time.time",
    "time.time_ns",
}


def keyword(call, name):
    return next((word.value for word in call.keywords if word.arg == name), None)


def names_encoding(call, position):
    """Whether `call` states an encoding, by name or at `position`, or passes on what it was given."""
    passed_on = any(word.arg is None for word in call.keywords)
    return keyword(call, "encoding") is not None or len(call.args) > position or passed_on


def mode_of(call, position):
    mode = keyword(call, "mode") or (call.args[position] if len(call.args) > position else None)
    if mode is None:
        return "r"
    return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None


def opens_text_without_encoding(call):
    if isinstance(call.func, ast.Name):
        if call.func.id != "open":
            return False
        mode = mode_of(call, 1)
        return mode is not None and "b" not in mode and not names_encoding(call, 3)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in TEXT_METHODS:
        return not names_encoding(call, 0 if call.func.attr == "read_text" else 1)
    if call.func.attr in PROCESS_CALLS and ast.unparse(call.func.value) == "subprocess":
        text = keyword(call, "text")
        return isinstance(text, ast.Constant) and text.value is True and keyword(call, "encoding") is None
    if call.func.attr != "open":
        return False
    # Many things can be opened; a path is told by its name, or by a file mode as the first argument.
    owner = ast.unparse(call.func.value).lower()
    mode = mode_of(call, 0)
    looks_like_mode = bool(call.args or keyword(call, "mode")) and mode is not None and set(mode) <= set("rwaxbt+")
    is_path = "path" in owner or "file" in owner
    return (looks_like_mode or (is_path and not call.args)) and "b" not in (mode or "b") and not names_encoding(call, 2)


def calls_without_encoding(source):
    return [
        source.at(node, ast.unparse(node)[:80])
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and opens_text_without_encoding(node)
    ]


def test_every_text_file_is_opened_with_an_encoding(everything):
    assert [found for source in everything for found in calls_without_encoding(source)] == []


@pytest.mark.parametrize(
    "line",
    [
        "open(name)",
        "open(name, 'w')",
        "path.open()",
        "note.open('a')",
        "note.open(mode='r')",
        "note.read_text()",
        "note.write_text(body)",
        "subprocess.run(words, text=True)",
    ],
)
def test_a_call_without_encoding_is_noticed(house_source, line):
    assert len(calls_without_encoding(house_source("src/reverie/example.py", line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "open(name, 'rb')",
        "open(name, mode)",
        "open(name, encoding='utf-8')",
        "path.open('wb')",
        "note.read_text('utf-8')",
        "note.write_text(body, encoding='utf-8', newline='')",
        "Memory.open(agent='main')",
        "os.open(name, flags)",
        "subprocess.run(words)",
    ],
)
def test_a_call_that_needs_no_encoding_is_let_pass(house_source, line):
    assert calls_without_encoding(house_source("src/reverie/example.py", line)) == []


def asks_for_the_time(source):
    """Return every use of the wall clock, whether it is called here or handed on; counters that only run are fine."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in TIME_OF_DAY:
            found.append(source.at(node, ast.unparse(node)))
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [source.at(node, a.name) for a in node.names if f"time.{a.name}" in TIME_OF_DAY]
    return found


def test_only_the_clock_asks_what_time_it_is(product):
    assert [found for source in product if source.name != CLOCK for found in asks_for_the_time(source)] == []


@pytest.mark.parametrize("line", ["time.time()", "datetime.now(UTC)", "from time import time", "clock = time.time"])
def test_a_look_at_the_wall_clock_is_noticed(house_source, line):
    assert len(asks_for_the_time(house_source("src/reverie/example.py", line))) == 1


@pytest.mark.parametrize(
    "line", ["time.perf_counter()", "time.monotonic()", "clock.now()", "from time import monotonic"]
)
def test_a_counter_that_only_runs_is_let_pass(house_source, line):
    assert asks_for_the_time(house_source("src/reverie/example.py", line)) == []
