"""What goes into documents written by hand: numbers of the text, parts of pages, the papers as PDF."""
