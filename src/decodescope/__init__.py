"""An oscilloscope for token streams: watch a local model read a prompt and write its answer."""

__version__ = "0.1.0"
