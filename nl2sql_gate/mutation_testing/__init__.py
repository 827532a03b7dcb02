"""Mutation testing of a dataset: which mutants of its golden SQL its rows tell from golden SQL, and which they do not."""
