from datetime import UTC, datetime

from bench import results
from bench.measuring import machine, runs
from bench.measuring.tables import Table


def kept(folder, program, *rows):
    at = datetime(2026, 3, 17, 20, 22, tzinfo=UTC)
    table = Table(f"Table of {program}", ("system", "s"), rows)
    return runs.new(program, [], at, machine.describe(), {"reverie": "0.1"}, [table]).save(folder)


def test_the_page_has_a_section_for_each_run_in_a_fixed_order(tmp_path, capsys):
    paths = [kept(tmp_path, "quality", ("Reverie", 0.9)), kept(tmp_path, "speed", ("Reverie", 0.1), ("none", None))]
    page = tmp_path / "RESULTS.md"
    assert results.main([*map(str, paths), "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.index("## Speed") < text.index("### Table of speed") < text.index("## Quality")
    assert "`scripts/bench quality`" in text
    assert "| none |" not in text
    assert "2 runs" in capsys.readouterr().out


def test_a_file_that_holds_no_run_is_an_error_of_one_line(tmp_path, capsys):
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    assert results.main([str(tmp_path / "x.json"), "--output", str(tmp_path / "page.md")]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "page.md").exists()
