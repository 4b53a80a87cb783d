"""How fast models read and write, measured in the way of ``llama-bench``."""
