"""Where baselines live: one module a kind of store."""
