import json

import pytest

from bench import quality
from bench.measuring import runs

EVALUATOR = """\
import json, sys
words = sys.argv[1:]
if "--command" in words and "--no-vectors" in words[words.index("--command") + 1]:
    sys.exit("error: no engine")
score = 0.5 if "--baseline" in words else 0.75
print(json.dumps({"tiny": {"ALL": {"n": 12, "R@10": score, "p50 ms": 2.5}, "part": {"n": 3, "R@10": 0.1}}}))
"""


@pytest.fixture
def evaluator(tmp_path):
    path = tmp_path / "evaluate.py"
    path.write_text(EVALUATOR, encoding="utf-8")
    return path


def test_every_system_gets_a_row_and_one_that_fails_a_reason(tmp_path, evaluator, capsys):
    words = ["tiny", "--evaluator", str(evaluator), "--data", str(tmp_path), "--results", str(tmp_path)]
    assert quality.main(words) == 1
    text = capsys.readouterr().out
    assert "### tiny (12 queries, dated file names)" in text
    assert "| FTS5, single lines | 0.500 | 2.50 |" in text
    assert "| Reverie | 0.750 | 2.50 |" in text
    assert "* Reverie, keywords only: exit status 1: error: no engine" in text
    assert str(tmp_path) not in text
    assert runs.load(tmp_path / "quality.json").raw["reports"]["Reverie"]["tiny"]["part"]["n"] == 3


def test_without_an_evaluator_nothing_is_scored(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        quality.main(["tiny", "--evaluator", str(tmp_path / "none.py"), "--data", str(tmp_path)])
    assert ended.value.code == 2
    assert quality.EVALUATOR in capsys.readouterr().err


def test_a_set_that_was_not_scored_has_no_row():
    table = quality.table("other", {"Reverie": json.loads('{"tiny": {"ALL": {"n": 1}}}')}, "dated file names")
    assert table.rows == ()
