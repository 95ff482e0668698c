"""The reference page and the table of keys are one."""

from pathlib import Path

from reverie.core.config import describe
from reverie.core.config.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_is_up_to_date():
    # To write it again: PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_key_has_a_meaning_and_stands_there_once():
    infos = list(describe())
    text = page()
    assert len({info.key for info in infos}) == len(infos)
    assert [info.key for info in infos if not info.meaning or not info.type] == []
    assert [info.key for info in infos if f"| `{info.key}` |" not in text] == []
