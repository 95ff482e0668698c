"""Which tool results taint a turn although they do not say where their content comes from.

A tool that declares its source is taken at its word when that lowers trust. One that declares nothing is judged by its
name and by what it was called with, never by what it gave back: output is exactly what an attacker writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

#: Tools of other programs: nobody here knows what they read.
_MCP = ("mcp__", "mcp:", "mcp.", "mcp/")
#: Tools whose output is text from outside, under the names that agents give them, without separators and in lower case.
#: A shell may print a downloaded page as well as a clock.
_SHELLS = (
    *("bash", "bashexecution", "bashoutput", "exec", "execute", "executecommand", "powershell", "process", "pty"),
    *("runcommand", "runinterminal", "runshellcommand", "runterminalcmd", "sh", "shell", "terminal", "zsh"),
)
_READERS_OF_THE_WEB = (
    *("browse", "browser", "curl", "fetch", "fetchurl", "googlesearch", "httprequest", "openurl", "readurl"),
    *("searchweb", "urlfetch", "webbrowser", "webfetch", "websearch", "wget", "xsearch"),
)
_OUTSIDE = frozenset((*_SHELLS, *_READERS_OF_THE_WEB))
_OUTSIDE_FAMILIES = ("browser_", "web_")
_SEPARATORS = re.compile(r"[\s_.\-]+")
_URL = re.compile(r"\s*(?:https?|ftps?|wss?|s3|gs)://\S+\s*", re.IGNORECASE)

#: Tools that show a file, or what they find in the files of a folder; and the arguments that say which.
_FILE_READERS = frozenset(
    (
        *("cat", "fsread", "getfile", "head", "open", "openfile", "read", "readfile", "readtextfile", "tail", "view"),
        *("find", "grep", "rg", "ripgrep", "search", "searchfilecontent", "searchfiles"),
    )
)
_PATH_ARGUMENTS = ("path", "file_path", "filePath", "file", "filename", "target_file", "directory", "dir_path")

#: How deep and how far arguments are looked through; what is longer or deeper is no argument of a tool that reads.
_DEPTH = 6
_VALUES = 500


@dataclass(frozen=True, slots=True)
class ExternalTools:
    """The tools whose undeclared results count as text from outside; ``name in tools`` asks for one.

    ``listed`` and ``trusted`` are names or patterns such as ``mcp__calendar__*``, from ``tools.external`` and
    ``tools.trusted``. A name in both is external. Trust is given to exactly that spelling, taken away from any.
    """

    listed: frozenset[str] = frozenset()
    trusted: frozenset[str] = frozenset()

    def __contains__(self, tool: object) -> bool:
        """Say whether an undeclared result of this tool taints."""
        if not isinstance(tool, str):
            return True
        name = tool.strip()
        folded = name.casefold()
        if any(fnmatchcase(folded, pattern.casefold()) for pattern in self.listed):
            return True
        return not self.trusts(name) and _is_outside(folded)

    def trusts(self, tool: str) -> bool:
        """Say whether the owner named this tool as one that brings in nothing from outside."""
        folded = tool.casefold()
        if any(fnmatchcase(folded, pattern.casefold()) for pattern in self.listed):
            return False
        return any(fnmatchcase(tool, pattern) for pattern in self.trusted)

    def reaches_out(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Say whether a call fetched something: one of its arguments is an address (list A, SEC-06).

        Known before the result is there, so nothing that touches the result can take it away.
        """
        return not self.trusts(tool) and any(_URL.fullmatch(value) for value in _texts(arguments))


def path_read(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the file or folder that a call of a reading tool was for; empty if this is none, or none is named."""
    if _SEPARATORS.sub("", tool.casefold()) not in _FILE_READERS:
        return ""
    named = (arguments.get(name) for name in _PATH_ARGUMENTS)
    return next((value for value in named if isinstance(value, str) and value.strip()), "")


def _is_outside(folded: str) -> bool:
    joined = _SEPARATORS.sub("_", folded)
    return folded.startswith(_MCP) or joined.startswith(_OUTSIDE_FAMILIES) or joined.replace("_", "") in _OUTSIDE


def _texts(value: object) -> Iterable[str]:
    """Yield the texts among the arguments, breadth first, within bounds."""
    level: list[object] = [value]
    seen = 0
    for _ in range(_DEPTH):
        below: list[object] = []
        for one in level:
            seen += 1
            if seen > _VALUES:
                return
            if isinstance(one, str):
                yield one
            elif isinstance(one, Mapping):
                below.extend(one.values())
            elif isinstance(one, Sequence):
                below.extend(one)
        level = below
