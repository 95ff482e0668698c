"""``reverie demo``: the main job on conversations that were written for it, or on a file of anybody's own.

``story`` runs it, step by step; ``parts`` holds what each step found; ``telling`` prints that; ``pools`` is the same
job for a file of notes and questions.
"""
