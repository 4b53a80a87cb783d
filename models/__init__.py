"""Which weights: references, discovery and header facts of GGUF files."""
