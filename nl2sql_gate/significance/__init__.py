"""Statistics of paired evaluations: tests, intervals, power, ratios. Arrays in, numbers out; nothing here knows a run.

A module for each question: `mcnemar` (one verdict an item), `sign_flip` (several, or real values), `intervals`, `power` (what
could have been seen), `multiplicity`, `ratios` (latency, tokens, cost), `beta` (is an item a coin). numpy and `scipy.special`.
"""
