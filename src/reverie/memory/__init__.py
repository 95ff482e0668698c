"""The memory of one agent. ``Memory`` is the table of contents of everything that Reverie does."""

from reverie.memory.arriving import OpenClawReport as OpenClawReport
from reverie.memory.arriving import TranscriptReport as TranscriptReport
from reverie.memory.conversing import MaintenanceReport as MaintenanceReport
from reverie.memory.memory import Memory as Memory
