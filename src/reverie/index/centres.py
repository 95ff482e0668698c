"""Where questions lie in the space of an embedder, so that a search can ask for what is particular to one.

The vectors of a small model all point about the same way, and those of questions have a direction of their own. What
a question shares with every question draws in texts that look like questions or like nothing at all. So the mean of
generic questions in the same script is taken off the query vector. It is a constant of the model, made once.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from reverie.core.language import scripts
from reverie.core.types import Embedder
from reverie.store.database import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READ = "SELECT script, vector FROM centre WHERE space = ?"
_HAS = "SELECT EXISTS (SELECT 1 FROM centre WHERE space = ?)"
_WRITE = "INSERT OR REPLACE INTO centre (space, script, vector) VALUES (?, ?, ?)"

LATIN = "latin"

#: Questions and remarks that could be about anybody's life, by script.
GENERIC = {
    LATIN: (
        "When was I last at the dentist?",
        "Where did she put the passport?",
        "How much did we pay for the sofa?",
        "Who told me about that course?",
        "What should I bring to the dinner?",
        "Why did the deployment break?",
        "Which film did he like best?",
        "Could you recommend something to read?",
        "I slept badly and feel a bit low today.",
        "Summarise what was agreed with the client.",
        "How many times have I been there?",
        "What did we decide about the server?",
        "Wann war ich zuletzt beim Zahnarzt?",
        "Wo hat sie den Schlüssel hingelegt?",
        "Wie viel hat die Reparatur gekostet?",
        "Was soll ich heute kochen?",
        "Welche Stadt hat ihm am besten gefallen?",
        "Erinnere mich daran, was ich versprochen habe.",
        "¿Cuándo fue la última reunión?",
        "¿Dónde dejamos las llaves?",
        "¿Cuánto costó el viaje?",
        "¿Qué libro me recomiendas?",
        "¿Quién vino a la fiesta?",
        "Hoy ha sido un día difícil para mí.",
        "Quand est-ce que le contrat se termine ?",
        "Où a-t-elle rangé les documents ?",
        "Combien avons-nous payé pour la voiture ?",
        "Quel est mon plat préféré ?",
        "Qui m'a parlé de ce restaurant ?",
        "Fais la liste des étapes dans l'ordre.",
    ),
    "zh": (
        "我上次看牙医是什么时候？",
        "她把护照放在哪里了？",
        "买沙发花了多少钱？",
        "是谁告诉我那门课的？",
        "晚饭我应该带什么？",
        "为什么部署失败了？",
        "他最喜欢哪部电影？",
        "你能推荐一本书吗？",
        "昨晚没睡好，今天心情有点低落。",
        "总结一下和客户商定的内容。",
        "我去过那里几次？",
        "关于服务器我们做了什么决定？",
        "下个月有什么计划？",
        "提醒我答应过的事情。",
        "同事今天帮了我一个忙，我很感谢。",
        "那家餐厅叫什么名字？",
    ),
    "ja": (
        "最後に歯医者に行ったのはいつですか？",
        "パスポートはどこに置きましたか？",
        "修理にいくらかかりましたか？",
        "おすすめの本はありますか？",
        "会議で何を決めましたか？",
        "彼が一番好きな映画は何ですか？",
        "今日は少し疲れていて気分が沈んでいます。",
        "約束したことを思い出させてください。",
    ),
    "ko": (
        "마지막으로 치과에 간 게 언제였지?",
        "여권을 어디에 두었지?",
        "수리비가 얼마나 들었어?",
        "읽을 만한 책을 추천해 줄래?",
        "회의에서 무엇을 결정했지?",
        "그가 가장 좋아하는 영화는 뭐야?",
        "오늘은 조금 피곤하고 기분이 가라앉아.",
        "내가 약속한 것을 알려 줘.",
    ),
}


def script_of(text: str) -> str:
    """Return the script of a question, one of the keys of ``GENERIC``."""
    found = scripts(text)
    return next((script for script in ("ja", "ko", "zh") if script in found), LATIN)


def make_centres(database: Database, embedder: Embedder, space: int) -> None:
    """Work out the centres of a space unless it has them; one that cannot be made now is made another time."""
    if database.value(_HAS, (space,)):
        return
    rows = []
    try:
        for script, questions in GENERIC.items():
            vectors = np.stack([np.asarray(embedder.embed_query(one), np.float64) for one in questions])
            rows.append((space, script, vectors.mean(axis=0).astype("<f4").tobytes()))
    except Exception:
        # An embedder is a foreign part; without centres its vectors are compared as they are.
        return
    with database.transaction():
        database.executemany(_WRITE, rows)


class Centres:
    """The centres of one space, read once."""

    def __init__(self, database: Database, space: int, dimension: int) -> None:
        self._database = database
        self._space = space
        self._dimension = dimension
        self._lock = threading.Lock()
        self._found: dict[str, NDArray[np.float64]] = {}

    def of(self, text: str) -> NDArray[np.float64]:
        """Return the mean vector of generic questions in the script of a text; zeros while it is not known."""
        with self._lock:
            if not self._found:
                for script, blob in self._database.rows(_READ, (self._space,)):
                    if len(blob) == 4 * self._dimension:
                        self._found[script] = np.frombuffer(blob, dtype="<f4").astype(np.float64)
            return self._found.get(script_of(text), np.zeros(self._dimension))
