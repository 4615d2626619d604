"""What comes out of scoring a source of runs: counts, kinds of failure, the verdict, and what a changed check flips."""
