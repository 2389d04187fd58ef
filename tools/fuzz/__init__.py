"""Fuzzers: altered model files, tables, samples and options, and what must never come of them."""
