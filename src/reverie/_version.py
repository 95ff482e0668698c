<<<<<<< HEAD
"""The version, in one place."""
=======
"""The one place that states the version; the build reads it from here."""
>>>>>>> house

__version__ = "0.1.0"
