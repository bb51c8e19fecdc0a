"""Every document that the analysis reads: the fields that it uses, their meaning and limits."""
