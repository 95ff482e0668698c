"""The reference page of the configuration, made from the table of keys.

``docs/configuration.md`` is this page; a test holds the two together.
"""

from __future__ import annotations

import json
from itertools import groupby

from reverie.core.config.schema import PROJECT_KEYS, describe
from reverie.core.config.section import KeyInfo

_HEAD = """\
# Configuration

Everything works without a configuration. What you want otherwise stands in `~/.reverie/reverie.json5` (in the state
folder: `REVERIE_STATE_DIR`, `~/.reverie` by default), in JSON5: comments, trailing commas and bare keys are welcome.

```
reverie config get                                    every key with its value; secrets as ***
reverie config get memory.search.query                one key, or all below it
reverie config set memory.search.query.maxResults 8   checked first; comments and formatting of the file stay
reverie config check                                  looks the file over, with line numbers
```

**What wins.** From the weakest: the defaults, the file, the project's file, the entry of the agent
(`agents.entries.<id>`), arguments of a call or a command. Objects are merged, lists are replaced, `extraPaths` are
joined. `null` and empty texts mean "not set".

**Secrets.** Write `"${{NAME}}"` in any value to take it from the environment (`"$${{NAME}}"` is that text itself). A
variable that is not set is an error that names it.

**A project** may bring a file `.reverie.json5`. Since anybody may have written it, it can set only
{project},
and cannot use variables; everything else in it is refused by name.

**Kinds.** Durations are texts such as `"30d"`, `"12h"`, `"5m"`; sizes are bytes or texts such as `"10mb"` (1 kb is
1,024 bytes). Unknown keys are warned of, with the nearest one that is known. Values of the wrong kind are errors with
key and line.

**OpenClaw files.** The same keys are read, from their present places and from older ones
(`agents.defaults.memorySearch`, `agents.list`, `query.hybrid`, `memory.qmd.paths` and so on); `reverie config check`
says which. Keys that only its gateway uses are kept and have no meaning here.

**Long-running commands** notice a changed file and read it again; one that cannot be used changes nothing.
"""

_TITLES = {
    "memory": "Search and memory",
    "agents.defaults": "All agents",
    "agents.entries": "Single agents",
    "session": "Sessions",
    "plugins": "Plugins",
    "plugins.entries.memory-core": "Dreaming and admission",
    "plugins.entries.active-memory": "Active Memory",
    "plugins.entries.memory-wiki": "The wiki",
    "plugins.entries.<id>": "Any plugin",
    "tools": "Tools",
    "commands": "Owner",
    "hooks": "Hooks",
    "models": "Models",
    "cron": "Schedule",
    "bindings": "Bindings",
    "privacy": "Privacy",
}


def page() -> str:
    """Return the whole page as Markdown."""
    names = ", ".join(f"`{name}`" for name in PROJECT_KEYS)
    parts = [_HEAD.format(project=names)]
    for title, rows in groupby(describe(), _title):
        parts.append(f"\n## {title}\n\n| key | kind | default | meaning |\n|---|---|---|---|\n")
        parts += [_row(row) for row in rows]
    return "".join(parts)


def _title(row: KeyInfo) -> str:
    homes = [home for home in _TITLES if row.key == home or row.key.startswith(f"{home}.")]
    return _TITLES[max(homes, key=len)]


def _row(row: KeyInfo) -> str:
    unset = row.default is None or row.default in ({}, "")
    default = "" if unset else f"`{json.dumps(row.default, ensure_ascii=False)}`"
    cells = (f"`{row.key}`", f"{row.type} {row.range}".strip(), default, row.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
