"""Secrets go, ordinary words stay, and no text takes long."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.redaction import redact

# Put together here, so that nothing that scans this file for leaked keys stumbles over it.
A, N = "Ab3dE5gH7jK9", "1234567890"
PEM = "-----BEGIN RSA PRI" + "VATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRI" + "VATE KEY-----"
SECRETS = [
    ("url password", "postgres://u:hunter@host/db", "hunter"),
    ("url password", "see redis://:s3cr3t@cache:6379/0 now", "s3cr3t"),
    ("signature", "https://x.example/f?se=1&sig=" + A * 3, A * 3),
    ("aws key", "id AK" + "IAIOSFODNN7EXAMPLE here", "IOSFODNN7"),
    ("github token", "gh" + "p_" + A * 3, A),
    ("github token", "github" + "_pat_" + A * 3, A),
    ("gitlab token", "gl" + "pat-" + A * 2, A),
    ("api key", "use sk" + "-proj-" + A * 3 + ".", A),
    ("slack token", "xo" + "xb-12345-" + A, A),
    ("webhook", "https://hooks.sl" + "ack.com/services/T000/B000/" + A * 2, A),
    ("webhook", "https://chat.example/api/webhooks/12345678901/" + A * 4, A),
    ("bot token", "bot 123456789:AA" + "x" * 33, "x" * 33),
    ("google key", "AI" + "za" + "x" * 35, "x" * 35),
    ("google token", "ya" + "29." + A * 3, A),
    ("stripe key", "sk" + "_live_" + A, A),
    ("sendgrid key", "S" + "G." + "x" * 22 + "." + "y" * 43, "y" * 43),
    ("package token", "np" + "m_" + "x" * 36, "x" * 36),
    ("hugging face token", "h" + "f_" + A * 3, A),
    ("digitalocean token", "do" + "p_v1_" + "a" * 64, "a" * 64),
    ("shopify token", "shp" + "at_" + "a" * 32, "a" * 32),
    ("twilio key", "S" + "K" + "0f" * 16, "0f" * 16),
    ("age key", "AGE-SECRET" + "-KEY-1" + "Q" * 58, "Q" * 58),
    ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + A, "zdWIiOiIxIn0"),
    ("bearer token", "Authorization: Bearer " + A * 2, A),
    ("basic login", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("cookie", "Cookie: session=abcdef; theme=dark", "abcdef"),
    ("password", "DB_PASSWORD=swordfish", "swordfish"),
    ("password", '{"password": "corr3ct"}', "corr3ct"),
    ("password", "**Passwort:** g3heim!", "g3heim!"),
    ("password", "密码：qwe-asd-1", "qwe-asd-1"),
    ("password", "パスワード: abc12345", "abc12345"),
    ("password", "비밀번호: abc12345", "abc12345"),
    ("password", "contraseña: abc12345", "abc12345"),
    ("password", "mot de passe : abc12345", "abc12345"),
    ("password", "mysql --password hunter22", "hunter22"),
    ("password", "Server=x;Pwd=hunter;", "hunter"),
    ("token", "API_TOKEN=tok_live_EXAMPLE1234567890", "tok_live_EXAMPLE1234567890"),
    ("token", 'apiKey: "zx81-zx81-zx81"', "zx81-zx81-zx81"),
    ("token", "client_secret = " + A, A),
    ("token", "aws_secret_access_key=" + "w/" * 20, "w/w/w/"),
    ("card number", "card 4111 1111 1111 1111, exp 12/30", "4111"),
    ("card number", "3782-822463-10005", "822463"),
    ("private key", PEM, "IBAAKC"),
]


@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS, ids=[f"{n}-{row[0]}" for n, row in enumerate(SECRETS)])
def test_sec_01_a_secret_is_replaced_and_named(kind, text, secret):
    clean, kinds = redact(text)
    assert secret not in clean
    assert f"[redacted: {kind}]" in clean
    assert kinds == (kind,)
    assert redact(clean) == (clean, ())


def test_sec_01_what_a_tool_printed_keeps_everything_but_the_secrets():
    text = f"""$ env
API_TOKEN=tok_live_EXAMPLE1234567890
curl -H "Authorization: Bearer {A}" https://api.example/v1
{PEM}
DATABASE=postgres://u:p@host/db
the deploy took 12 minutes"""
    clean, kinds = redact(text)
    assert (
        clean
        == """$ env
API_TOKEN=[redacted: token]
curl -H "Authorization: Bearer [redacted: bearer token]" https://api.example/v1
[redacted: private key]
DATABASE=postgres://u:[redacted: url password]@host/db
the deploy took 12 minutes"""
    )
    assert kinds == ("private key", "url password", "bearer token", "token")


def test_an_unfinished_private_key_is_replaced_as_far_as_it_goes():
    clean, _ = redact(PEM.split("-----END")[0] + "Qk0=\n\n- next point")
    assert clean == "[redacted: private key]- next point"


PLAIN = [
    "keyboard: split",
    "monkey patch",
    "monkey: banana42banana",
    "tokenised text",
    "tokenizer: bert-base-uncased-v2",
    "max_tokens: 4096",
    "token_count = 123456789",
    "tokens=12345678",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "key: 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "secretary: Ms Example-42",
    "the secret: bring chocolate",
    "password: required",
    "Password: ask Bob.",
    "password=$DB_PASSWORD",
    "password=<your password>",
    "token: ${{ secrets.CI_TOKEN }}",
    "password_file: /run/secrets/db1",
    "pwd: /home/ada/projects1",
    "PWD=/home/ada",
    "bearer of bad news",
    "bearer certificates",
    "Basic understanding of sk-learn",
    "cookie: chocolate chip",
    "a passport, a turnkey solution, a keynote",
    "order 4111 1111 1111 1112",
    "ISBN 978-3-16-148410-0",
    "call +49 30 1234567 4111",
    "1772452800000",
    "https://host.example:8080/a@b",
    "mailto:ada@example.org",
    "ratio 3:1 at 10:30",
    "http://localhost:3000 and me@example.org",
    "密码是什么？",
    "eyJ is how a JWT begins",
    "0000 0000 0000 0000",
]


@pytest.mark.parametrize("text", PLAIN)
def test_sec_03_ordinary_text_is_left_alone(text):
    assert redact(text) == (text, ())


pieces = st.sampled_from([text for _, text, _ in SECRETS] + PLAIN + ["\n", " ", "=", ":", '"'])


@given(st.lists(pieces | st.text(max_size=20), max_size=8).map("\n".join))
def test_redacting_twice_changes_nothing_more(text):
    clean, _ = redact(text)
    assert redact(clean)[0] == clean


@given(st.text())
def test_any_text_can_be_redacted(text):
    clean, kinds = redact(text)
    assert bool(kinds) == (clean != text)


def test_secrets_that_touch_are_all_found():
    touching = "np" + "m_" + "x" * 36 + "postgres://u:hunter@host/db"
    assert redact(touching)[0] == "[redacted: package token]postgres://u:[redacted: url password]@host/db"


HOSTILE = [
    "a", "A1", "1", "1 ", "4111", "-", "=", ": ", "_-", "eyJ", "eyJ-", "eyJhbGciOi.", "sk-", "sk-a1", "xoxb-", "gh", "ghp_",
    "password", "password:", "password=", "pass_word=", "token_a", "token.a.b.c=", "secret'\"", "://a:", "http://", "http://a:b",
    "bearer ", "bearer a", "cookie:", "cookie: a=", "?sig=", "--token ", "12345678:AA", "/api/webhooks/1", "SG.", "npm_", "AKIA",
    "-----BEGIN PRI" + "VATE KEY-----", "-----BEGIN ", "-----BEGIN A PRI" + "VATE KEY-----\n", "密码：", "api key", "api_key_", "\n", "\u212a",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_repetition_takes_more_time_than_its_length(unit):
    text = unit * (100_000 // len(unit))
    started = process_time()
    redact(text)
    # Linear work takes a fraction of a second here; anything worse would take minutes.
    assert process_time() - started < 8


def test_a_megabyte_of_everything_that_could_confuse_a_pattern_ends():
    text = "".join(unit * (1_000_000 // len(HOSTILE) // len(unit)) for unit in HOSTILE)
    started = process_time()
    redact(text)
    assert process_time() - started < 20


def test_a_secret_behind_a_megabyte_of_text_is_found():
    clean, _ = redact("word " * 200_000 + "API_TOKEN=tok_live_EXAMPLE1234567890")
    assert not re.search("EXAMPLE", clean)
