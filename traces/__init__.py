"""Recordings: the events of generations on disk, written as they happen and read again."""
