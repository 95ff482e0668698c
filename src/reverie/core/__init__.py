"""Floor 0: values, errors, configuration, clock, text and the provenance rules. Imports no other room."""
