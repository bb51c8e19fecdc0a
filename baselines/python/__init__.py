"""The prefix sums of Python's array libraries, timed as ``scanlab bench`` times its baselines."""
