r"""From text to symbols: each word that a language uses to speak of time becomes one letter with a value.

The grammar then works on strings of these letters and knows no language. The letters:

======  ==================================================  ======  ==============================================
N       number                                              O       ordinal number
Y       year of four digits                                 M       month by name (value: number, weak)
W       weekday, Monday is 0                                U       unit of time
R       day counted from today                              P       part of a day
C       time of day written out                             D       date in digits
K       before or after noon                                H       o'clock
Z       holiday                                             Q       season or quarter
E       every                                               V       weekend, or working days
L       last                                                l       past: the nearest one before
T       this                                                X       next
x       coming: the nearest one                             w       now
A a     ago, after or before its duration                   F I     from now, after or before its duration
B b     before, in front of or behind its time              G g     after, in front of or behind its time
S       since, from                                         J       between
&       and                                                 \\-      to, until
s e m   beginning, end, middle                              h       minutes that "past" or "to" an hour add
o t n   of, the, on or in                                   @       at
~       about                                               ,       comma
y j i   year, month and day as they are counted in CJK      f c     minute and second in CJK
2       half past, said behind the hour                     z       every, behind what comes again
\\.      anything else
======  ==================================================  ======  ==============================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

#: A letter of the table above and what it stands for.
Meaning = tuple[str, object]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter with its value and the part of the text that it was."""

    letter: str
    value: object
    start: int
    end: int


#: A regular expression and what makes meanings of its match.
Pattern = tuple[str, "Callable[[re.Match[str], Lexicon], Sequence[Meaning]]"]


_Compiled = tuple["re.Pattern[str]", "Callable[[re.Match[str], Lexicon], Sequence[Meaning]]"]


@dataclass(frozen=True)
class Lexicon:
    """The words of one language.

    ``words`` maps alternatives, as regular expressions divided by ``|``, to their meanings, one or several.
    ``patterns`` begin with a digit, ``spoken`` with anything; both are tried before the words, and give meanings, or
    none where they do not hold. ``spaced`` says whether words
    stand apart; ``order`` is that of day, month and year in digits.
    """

    name: str
    spaced: bool
    order: str
    words: Mapping[str, Sequence[Meaning]]
    patterns: Sequence[Pattern] = field(default=())
    spoken: Sequence[Pattern] = field(default=())

    @cached_property
    def _tables(self) -> dict[str, tuple[re.Pattern[str], list[Sequence[Meaning]]]]:
        """Return the words by their first character, as one expression each, longest first."""
        entries = [
            (fold(alternative), meanings)
            for words, meanings in self.words.items()
            for alternative in _ALTERNATIVES.split(words)
        ]
        entries.sort(key=lambda entry: (-len(_OPTIONAL.sub("", entry[0])), -len(entry[0]), entry[0]))
        begun: dict[str, list[tuple[str, Sequence[Meaning]]]] = {}
        for entry in entries:
            for char in first_characters(entry[0]):
                begun.setdefault(char, []).append(entry)
        return {
            char: (self._joined([form for form, _ in some]), [one for _, one in some]) for char, some in begun.items()
        }

    def _joined(self, forms: Sequence[str]) -> re.Pattern[str]:
        inside = "|".join(f"(?P<w{at}>{form})" for at, form in enumerate(forms))
        # Digits may stand against a word: Dec31, 5min.
        return re.compile(rf"(?<![^\W\d])(?:{inside})(?![^\W\d])" if self.spaced else f"(?:{inside})")

    @cached_property
    def _compiled(self) -> tuple[list[_Compiled], list[_Compiled]]:
        digits, spoken = ([(re.compile(form), build) for form, build in some] for some in (self.patterns, self.spoken))
        return digits, spoken

    def symbols(self, text: str) -> list[Symbol]:
        """Return the text as symbols; white space is left out, what means nothing here is ``.``."""
        folded = fold(text)
        found: list[Symbol] = []
        at = 0
        while at < len(folded):
            if folded[at].isspace():
                at += 1
                continue
            end, meant = self._at(folded, at)
            found.extend(Symbol(letter, value, at, end) for letter, value in meant)
            at = end
        return found

    def _at(self, text: str, at: int) -> tuple[int, Sequence[Meaning]]:
        digits, spoken = self._compiled
        for pattern, build in (*digits, *spoken) if text[at].isdigit() else spoken:
            if (match := pattern.match(text, at)) and (meant := build(match, self)):
                return match.end(), meant
        if text[at] in _MARKS:
            return at + 1, [(_MARKS[text[at]], None)]
        if text[at] in self._tables:
            words, meanings = self._tables[text[at]]
            if match := words.match(text, at):
                return match.end(), meanings[int(str(match.lastgroup)[1:])]
        if not self.spaced or not (match := _WORD.match(text, at)):
            return at + 1, [(".", text[at])]
        return match.end(), [(".", match[0])]


#: Marks that mean the same in every language.
_MARKS = {",": ",", "/": ",", "(": ",", ")": ",", "-": "-", "~": "-", "&": "&", "@": "@"}
_WORD = re.compile(r"\w+")
#: What of a pattern need not be there, or stands for one character: the rest tells how long its shortest match is.
_OPTIONAL = re.compile(r"\(\?[=!<][^()]*\)|\((?:\?:)?[^()]*\)\?|\[[^\]]*\]\?|\\?.\?|(?<=\[)[^\]]*(?=\])|\[|\]|\(\?:|\)")
#: The bars between alternatives, not those inside brackets.
_ALTERNATIVES = re.compile(r"\|(?![^()]*\))")


def first_characters(form: str) -> set[str]:
    """Return the characters that a match of an expression can begin with.

    It may hold characters, ``[abc]``, ``(?:a|b)``, each with ``?`` or not, and look-around.
    """
    found: set[str] = set()
    at = 0
    while at < len(form):
        if form[at] == "(":
            end = at + _closing(form[at:])
            inside = form[at + 1 : end]
            if inside.startswith("?:"):
                found |= {char for one in _ALTERNATIVES.split(inside[2:]) for char in first_characters(one)}
            elif inside.startswith("?"):  # look-around begins nothing
                at = end + 1
                continue
        elif form[at] == "[":
            end = form.index("]", at)
            found |= set(form[at + 1 : end])
        else:
            end = at + (form[at] == "\\")
            found.add(form[end])
        if form[end + 1 : end + 2] != "?":
            return found
        at = end + 2
    return found


def _closing(form: str) -> int:
    """Return where the bracket closes that a form begins with."""
    depth = 0
    for at, char in enumerate(form):
        depth += (char == "(") - (char == ")")
        if not depth:
            return at
    raise ValueError(form)


def fold(text: str) -> str:
    """Return the text in lower case without accents, each character in its place."""
    return text.lower() if text.isascii() else "".join(map(_folded, text))


def _folded(char: str) -> str:
    if char in _ALIKE:
        return _ALIKE[char]
    lower = char.lower()
    if len(lower) != 1:
        return char
    if lower < "\x80":
        return lower
    if unicodedata.east_asian_width(lower) == "F":
        return unicodedata.normalize("NFKC", lower)[0]
    base = unicodedata.normalize("NFD", lower)[0]
    return base if base < "\x80" else lower


#: Signs that are written in several ways.
_ALIKE = {"’": "'", "‘": "'", "–": "-", "—": "-", "〜": "~", "～": "~", "，": ",", "、": ",", "：": ":", "\u00a0": " "}
