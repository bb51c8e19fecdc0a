"""How figures and tables look: knows shapes and colours, draws nothing of its own accord."""
