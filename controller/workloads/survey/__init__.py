"""A plan looked at: what happens when, how much of it matches, what covers what, and who goes where."""
