"""Fails when the package's version and the changelog disagree.

The changelog opens with `[Unreleased]`; the first dated heading below it is the version that the package states.
"""

import re
import sys
from pathlib import Path

HEADING = re.compile(r"^## \[(?P<name>[^\]]+)\](?P<rest>.*)$", re.MULTILINE)
DATE = re.compile(r"^ - \d{4}-\d{2}-\d{2}$")
VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)


def complaints(root: Path) -> list[str]:
    """Return what does not agree in the project at `root`, one sentence each."""
    stated = VERSION.search((root / "src" / "reverie" / "_version.py").read_text(encoding="utf-8"))
    if stated is None:
        return ["src/reverie/_version.py states no version"]
    version = stated["version"]
    headings = list(HEADING.finditer((root / "CHANGELOG.md").read_text(encoding="utf-8")))
    names = [heading["name"] for heading in headings]
    found = []
    if names[:1] != ["Unreleased"]:
        found.append("CHANGELOG.md does not open with [Unreleased]")
    if names[1:2] != [version]:
        newest = names[1] if len(names) > 1 else "none"
        found.append(f"the package is version {version}, the newest one in CHANGELOG.md is {newest}")
    found.extend(
        f"CHANGELOG.md gives version {heading['name']} no date"
        for heading in headings[1:]
        if not DATE.match(heading["rest"])
    )
    found.extend(f"CHANGELOG.md has two headings for {name}" for name in sorted(set(names)) if names.count(name) > 1)
    return found


def main() -> int:
    """Print every complaint about the project this script stands in; the exit status says whether there was one."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = complaints(root)
    for complaint in found:
        print(f"error: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
