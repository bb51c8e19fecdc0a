"""Scanlab's analysis: reads results, never measures, and writes the figures and tables of the report."""
