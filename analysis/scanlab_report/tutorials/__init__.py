"""The pictures and the generated parts of docs/tutorials."""
