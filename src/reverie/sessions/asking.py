"""Asking a language model without being at its mercy: there is an answer, or the reason why there is none."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from reverie.core.text import collapse, cut
from reverie.core.types import ChatMessage, ChatModel

logger = logging.getLogger(__name__)

_FAULT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered; without an answer ``fault`` says why."""

    text: str = ""
    fault: str = ""


def asked(model: ChatModel, system: str, text: str, *, timeout: float) -> Answer:
    """Ask a model one question. Never raises: a model that fails must not stop what can go on without it."""
    if timeout <= 0:
        return Answer(fault="there was no time left")
    try:
        found = model.complete(system, (ChatMessage("user", text),), timeout=timeout)
    except Exception as error:  # a model is a third party's and may fail in any way; its failure is an outcome here
        fault = cut(collapse(f"{type(error).__name__}: {error}"), _FAULT_CHARS)
        logger.warning("the language model gave no answer: %s", fault)
        return Answer(fault=fault)
    return Answer(str(found))
