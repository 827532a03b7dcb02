"""The documentation as a site: Markdown as it stands on GitHub, built strictly."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "nl2sql-gate"
author = "The nl2sql-gate authors"
project_copyright = author
release = version = PROJECT["version"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["build"]
nitpicky = True
suppress_warnings = [
    "misc.highlighting_failure"  # blocks that show a wrong file, or a template within one
]
html_theme = "furo"
html_title = "nl2sql-gate"
html_theme_options = {"source_repository": "https://github.com/nl2sql-gate/nl2sql-gate/", "source_directory": "docs/"}
# The same links work here and on GitHub.
myst_heading_anchors = 3
myst_links_external_new_tab = False
