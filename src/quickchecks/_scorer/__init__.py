"""Scorers: the pipeline that makes them, their composition, and their forms as text."""
