"""What the measurements ran on, as far as it bears on them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine and the interpreter. ``load`` is the load average of the last minute when it was looked at."""

    processor: str
    cores: int
    memory: str
    system: str
    python: str
    load: float

    def asdict(self) -> dict[str, str | int | float]:
        """Return it as JSON takes it."""
        return asdict(self)


def describe() -> Machine:
    """Look at this machine."""
    return Machine(
        processor=_field(Path("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory=_memory(),
        system=f"{_release()}, Linux {platform.release()}, {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        load=round(os.getloadavg()[0], 2),
    )


def versions(*distributions: str) -> dict[str, str]:
    """Return the versions of those distributions that are installed beside this interpreter."""
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _memory() -> str:
    kibibytes = _field(Path("/proc/meminfo"), "MemTotal").removesuffix("kB").strip()
    return f"{int(kibibytes) / 2**20:.1f} GiB" if kibibytes else "unknown"


def _release() -> str:
    return _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"') or platform.system()


def _field(path: Path, name: str, sign: str = ":") -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return ""
    for line in text.splitlines():
        key, _, value = line.partition(sign)
        if key.strip() == name:
            return value.strip()
    return ""
