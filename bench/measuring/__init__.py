"""What all measurements share: processes, figures, tables, the machine, and the files that runs leave behind."""
