"""The checks that a policy is made of, each giving rows for the table of gates and two readings of what is missing.

`drop` (the primary metric, other metrics, the anchor), `floors` (floors and required items), `slices`, `budgets`; `check` holds
what they share. `verdict.decide` runs them and adds up.
"""
