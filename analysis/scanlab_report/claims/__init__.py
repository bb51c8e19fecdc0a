"""Claims of Scanlab, statements of the literature and open targets, held against results."""
