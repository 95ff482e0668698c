"""Time phrases, in seven languages, by one closed grammar: for questions about the past and for reminders.

:func:`find_times` is the way in. ``words`` holds what each language calls things, ``lexicon`` turns a text into
symbols, ``grammar`` puts symbols together by the rules in ``clocks``, ``days`` and ``spans``.
"""
