"""The configuration: what can be set, how it is read, how it is changed.

``load_config`` puts the layers together (defaults, the file, the project's file, the agent's entry, explicit
arguments; the later wins) into a frozen :class:`Config`. ``set_value`` edits the file and keeps its comments. Every
key stands in one table (:mod:`.schema` and the modules beside it), from which ``describe`` and the reference are made.
"""

from __future__ import annotations

from reverie.core.config.agent import AgentConfig, ExtraRoot
from reverie.core.config.change import set_value, unset_value
from reverie.core.config.layers import PROJECT_FILE
from reverie.core.config.load import Config, LiveConfig, check, load_config
from reverie.core.config.reading import MASK, Problem
from reverie.core.config.schema import PROJECT_KEYS, Root, describe
from reverie.core.config.section import KeyInfo
from reverie.core.config.value import get_value
from reverie.core.paths import Paths

__all__ = [
    "MASK",
    "PROJECT_FILE",
    "PROJECT_KEYS",
    "AgentConfig",
    "Config",
    "ExtraRoot",
    "KeyInfo",
    "LiveConfig",
    "Paths",
    "Problem",
    "Root",
    "check",
    "describe",
    "get_value",
    "load_config",
    "set_value",
    "unset_value",
]
