"""Quantities that figures, tables, claims and documents share, computed from evidence."""
