"""Where completions come from: one module for each way to ask a model, and what they share."""
