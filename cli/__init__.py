"""The command line: commands, and what they print without a screen."""
