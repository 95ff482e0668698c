"""One tree, with fields and advice."""

from __future__ import annotations

from reverie.core.errors import EmbedderUnavailable, PathNotAllowed, ReverieError, StoreError, StoreUnwritable


def test_a_class_speaks_by_its_docstring_unless_more_is_known() -> None:
    assert str(StoreUnwritable()) == "The database cannot be written"
    assert str(StoreUnwritable("The disk is full", path="/x")) == "The disk is full (path: /x)"


def test_facts_travel_in_fields_and_empty_ones_are_not_printed() -> None:
    error = PathNotAllowed(path="../x", reason="")
    assert error.fields == {"path": "../x", "reason": ""}
    assert str(error).endswith("(path: ../x)")
    assert error.hint


def test_everything_is_caught_by_the_root_and_by_its_branch() -> None:
    assert issubclass(StoreUnwritable, StoreError)
    assert issubclass(EmbedderUnavailable, ReverieError)
    assert EmbedderUnavailable("the wheel is missing").reason == "the wheel is missing"
