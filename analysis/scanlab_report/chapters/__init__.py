"""The figures and tables, one file per question; importing a file registers what it has."""
