"""The one way by which Reverie changes a memory file: recorded, compared with what was read, and judged by line."""
