"""Claims of the report and of the literature, and how they stand."""
