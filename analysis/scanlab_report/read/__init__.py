"""Files in, checked and typed tables out; and what is wrong with each file, by its place."""
