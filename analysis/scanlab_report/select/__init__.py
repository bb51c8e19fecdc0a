"""Which of what was read answers a question: evidence, with the runs that it is from."""
