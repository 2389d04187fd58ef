"""Shared by every room: files, limits, wording, threads, optional packages, model files."""
