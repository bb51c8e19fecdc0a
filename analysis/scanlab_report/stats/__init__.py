"""Numbers from repetitions: medians, intervals, tests. Knows arrays and nothing of Scanlab."""
