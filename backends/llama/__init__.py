"""The llama.cpp engine: its low-level C API, driven in the engine's own process."""
