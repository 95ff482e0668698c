"""Secrets in text: found by anchored patterns, replaced before anything is stored in a derived place (I13).

A pattern needs a shape that ordinary text does not have: an issuer's prefix, a name with a sign of assignment, a
check digit. Every pattern is bounded, so that the time grows with the text and no faster. A secret of no known shape,
in prose, is not found; nothing here judges wording.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Names whose value is a secret when it looks like one. They need no boundary on the left: ``DB_PASSWORD``, ``apiKey``.
_KEY_NAMES = (
    r"(?:api|access|auth|client|private|secret|signing|encryption|account|master|consumer|license)[_\-. ]?key"
    r"(?:[_-]id)?|token|secret|credentials?"
)
_PASSWORD_NAMES = (
    r"password|passwd|passphrase|passwort|kennwort|contraseña|contrasena|mot de passe"
    r"|密码|密碼|口令|パスワード"
    r"|비밀번호|암호"
)
#: What may stand between a name and its value: more of the name, quotes, one sign of assignment.
_MORE_NAME = r"(?:[_.-](?!file\b|path\b)[a-z0-9]{1,30}){0,3}"
_QUOTES = r"[\"'`*]{0,3}"
_ASSIGNED = rf"{_QUOTES}[ \t]{{0,3}}(?P<sign>:=|=>|[:=：＝]){_QUOTES}[ \t]{{0,3}}{_QUOTES}"
_ANY = r"[!#-&(-+\--_a-~]"  # printable ASCII but quotes and the comma
_VALUE = rf"(?P<secret>{_ANY}{{4,4096}})"

#: Of two secrets that touch, the second may come to light only once the first is gone.
_PASSES = 3
_LETTER, _DIGIT, _SIGN = re.compile(r"[A-Za-z]"), re.compile(r"\d"), re.compile(r"[^A-Za-z]")
#: First characters of what stands for a value and is none: a variable, a placeholder, a mask, code, this module's mark.
_PLACEHOLDERS = ("$", "<", "[", "{", "(", "*", "%", "...", "…", "xxx", "XXX")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A kind of secret. ``hints`` are lower-case strings of which one occurs wherever the pattern can match."""

    kind: str
    hints: tuple[str, ...]
    regex: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] | None = None


def _names_a_secret(found: re.Match[str]) -> bool:
    """Say whether the value after a key's name looks like one: letters with digits, or long without a space."""
    value = found["secret"]
    if value.startswith(_PLACEHOLDERS) or not _LETTER.search(value):
        return False
    return (len(value) >= 8 and _DIGIT.search(value) is not None) or (len(value) >= 20 and "://" not in value)


def _names_a_password(found: re.Match[str]) -> bool:
    """Say whether the value after a password's name is one: after ``=`` any word, else not a plain word."""
    value = found["secret"]
    if value.startswith(_PLACEHOLDERS):
        return False
    return "=" in found["sign"] or _SIGN.search(value.rstrip(".,;:!?")) is not None


def _has_digit(found: re.Match[str]) -> bool:
    return _DIGIT.search(found["secret"]) is not None


def _is_card(found: re.Match[str]) -> bool:
    """Say whether the digits are of a card's length and pass the check of Luhn (ISO/IEC 7812-1)."""
    digits = [int(char) for char in found["secret"] if char.isdigit()]
    doubled = [digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4) for place, digit in enumerate(reversed(digits))]
    return 14 <= len(digits) <= 19 and sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _p(
    kind: str,
    hints: str,
    regex: str,
    holds: Callable[[re.Match[str]], bool] | None = None,
    *,
    ignore_case: bool = False,
) -> _Pattern:
    return _Pattern(kind, tuple(hints.split()), re.compile(regex, re.IGNORECASE if ignore_case else 0), holds)


# An issuer's key begins where no letter, digit or dash stands before it; the run behind it is taken whole.
_PATTERNS = (
    _p(
        "url password",
        "://",
        r"(?<![a-zA-Z0-9+.-])[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s/:@]{0,256}:(?P<secret>[^\s/]{1,256})@",
    ),
    _p("signature", "sig", r"[?&](?:sig|signature|x-amz-signature)=(?P<secret>[\w%.~+/-]{16,1024})", ignore_case=True),
    _p(
        "aws key",
        "akia asia agpa aida aroa abia acca",
        r"(?<![A-Za-z0-9])(?P<secret>(?:A[KS]IA|AGPA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{16})(?![A-Za-z0-9])",
    ),
    _p("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?<![\w-])(?P<secret>gh[pousr]_[A-Za-z0-9]{30,255})"),
    _p("github token", "github_pat_", r"(?<![\w-])(?P<secret>github_pat_\w{22,255})"),
    _p("gitlab token", "glpat-", r"(?<![\w-])(?P<secret>glpat-[\w.-]{20,255})"),
    _p("api key", "sk-", r"(?<![\w-])(?P<secret>sk-[\w-]{20,255})", _has_digit),
    _p("slack token", "xox xapp-", r"(?<![\w-])(?P<secret>(?:xox[abeoprs]|xapp)-[\w-]{10,255})"),
    _p("webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,255})"),
    _p("webhook", "/api/webhooks/", r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{30,255})"),
    _p("bot token", ":aa", r"(?<![\w-])(?P<secret>\d{8,12}:AA[\w-]{32,34})(?![\w-])"),
    _p("google key", "aiza", r"(?<![\w-])(?P<secret>AIza[\w-]{35})(?![\w-])"),
    _p("google token", "ya29. gocspx-", r"(?<![\w-])(?P<secret>(?:ya29\.|GOCSPX-)[\w-]{20,1024})"),
    _p(
        "stripe key",
        "_live_ _test_ whsec_",
        r"(?<![A-Za-z0-9-])(?P<secret>(?:[prs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,255})",
    ),
    _p("sendgrid key", "sg.", r"(?<![\w-])(?P<secret>SG\.[\w-]{16,32}\.[\w-]{32,64})"),
    _p("package token", "npm_ pypi-", r"(?<![\w-])(?P<secret>npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,1024})"),
    _p("hugging face token", "hf_", r"(?<![\w-])(?P<secret>hf_[A-Za-z0-9]{30,64})(?![\w-])"),
    _p("digitalocean token", "_v1_", r"(?<![\w-])(?P<secret>do[opr]_v1_[a-f0-9]{64})"),
    _p("shopify token", "shp", r"(?<![\w-])(?P<secret>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"),
    _p("twilio key", "sk", r"(?<![\w-])(?P<secret>SK[0-9a-f]{32})(?![\w-])"),
    _p("age key", "age-secret-key-", r"(?P<secret>AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    _p("jwt", "eyj", r"(?<![\w-])(?P<secret>eyJ[\w-]{8,4096}\.eyJ[\w-]{4,8192}(?:\.[\w-]{0,4096})?)"),
    _p(
        "bearer token",
        "bearer",
        r"\bbearer[ \t]{1,3}(?P<secret>[\w.~+/-]{8,8192}={0,2})",
        _names_a_secret,
        ignore_case=True,
    ),
    _p(
        "basic login",
        "basic",
        r"authorization[\"']?[ \t]{0,3}[:=][ \t\"']{0,3}"
        r"basic[ \t]{1,3}(?P<secret>[\w+/]{4,1024}={0,2})",
        ignore_case=True,
    ),
    _p("cookie", "cookie", r"\b(?:set-)?cookie:[ \t]{0,3}(?P<secret>[^\s=;]{1,100}=[^\r\n]{4,4096})", ignore_case=True),
    _p(
        "password",
        "pass kennwort contrase 密码 密碼 口令 パスワード 비밀번호 암호",
        f"(?:{_PASSWORD_NAMES}){_MORE_NAME}{_ASSIGNED}{_VALUE}",
        _names_a_password,
        ignore_case=True,
    ),
    _p(
        "password",
        "pwd",
        rf"(?<![a-z])pwd{_MORE_NAME}[\"']?(?P<sign>=)[\"']?(?!/){_VALUE}",
        _names_a_password,
        ignore_case=True,
    ),
    _p(
        "password",
        "--pass --token --secret --api",
        rf"(?<!\S)--(?:password|passwd|pass|token|secret|api-?key)[ =](?!-){_VALUE}",
        _names_a_secret,
        ignore_case=True,
    ),
    _p(
        "token",
        "key token secret credential",
        f"(?:{_KEY_NAMES}){_MORE_NAME}{_ASSIGNED}{_VALUE}",
        _names_a_secret,
        ignore_case=True,
    ),
    _p(
        "card number",
        "",
        r"(?<![\w.,+-])(?P<secret>3[47]\d{2}[ -]?\d{6}[ -]?\d{5}"
        r"|(?:[3-6]\d{3}|2[2-7]\d{2})[ -]?\d{4}[ -]?\d{4}[ -]?\d{2,7})(?![\w-])",
        _is_card,
    ),
)

_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=\s\\]*")
#: A line inside a key: its body, or a header such as ``Proc-Type: 4,ENCRYPTED``; quoted and listed keys have a lead.
_PEM_LINE = re.compile(r"[\s>|*-]*(?:[A-Za-z0-9+/=\\]*|[A-Za-z-]{1,40}: [^\r\n]{0,200})\s*")


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace every secret by ``[redacted: kind]``.

    Returns:
        The text, and the kinds that were found, each once, in the order found.
    """
    kinds: list[str] = []
    for _ in range(_PASSES):
        clean = _pass_over(text, kinds)
        if clean == text:
            break
        text = clean
    return text, tuple(kinds)


def redact_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines with every secret replaced; their number stays, also where a key goes over several."""
    clean, _ = _by_line(lines)
    return clean


def secrets_in(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return where secrets stand: the number of the line, from 1, and the kind. Never the secret itself."""
    _, found = _by_line(lines)
    return found


def _by_line(lines: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
    found: list[tuple[int, str]] = []
    clean: list[str] = []
    inside = False
    for number, line in enumerate(lines, 1):
        begin = None if inside else _PEM_BEGIN.search(line)
        if begin is not None and _PEM_END.search(line, begin.end()) is None:
            # The rest of this line and what follows, as far as it can belong to a key.
            found.append((number, "private key"))
            clean.append(redact(line[: begin.start()])[0] + "[redacted: private key]")
            inside = True
            continue
        if inside:
            end = _PEM_END.search(line)
            inside = end is None and _PEM_LINE.fullmatch(line) is not None
            if end is not None or inside:
                clean.append(redact(line[end.end() :])[0] if end is not None else "")
                continue
        text, kinds = redact(line)
        found.extend((number, kind) for kind in kinds)
        clean.append(text)
    return clean, found


def _pass_over(text: str, kinds: list[str]) -> str:
    lowered = text.lower()
    if "-----begin " in lowered:
        text = _without_private_keys(text, kinds)
    for pattern in _PATTERNS:
        if not pattern.hints or any(hint in lowered for hint in pattern.hints):
            text = pattern.regex.sub(_replacing(pattern, kinds), text)
    return text


def _replacing(pattern: _Pattern, kinds: list[str]) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        if found["secret"].startswith("[redacted") or (pattern.holds is not None and not pattern.holds(found)):
            return found[0]
        if pattern.kind not in kinds:
            kinds.append(pattern.kind)
        start, end = found.span("secret")
        return f"{found.string[found.start() : start]}[redacted: {pattern.kind}]{found.string[end : found.end()]}"

    return replaced


def _without_private_keys(text: str, kinds: list[str]) -> str:
    """Replace private keys. Not one expression: from many beginnings, each would look for an end that is not there."""
    parts, position, ends = [], 0, True
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < position:
            continue
        end = _PEM_END.search(text, begin.end()) if ends else None
        ends = end is not None
        # Without an end, what can belong to a key goes.
        end = end or _PEM_BODY.match(text, begin.end())
        parts += [text[position : begin.start()], "[redacted: private key]"]
        position = end.end() if end else begin.end()
        if "private key" not in kinds:
            kinds.append("private key")
    return "".join([*parts, text[position:]])
