"""Renderings of one report, pure text: for a terminal, for Markdown, for programs, for test viewers, for a browser."""
