"""The attribute language: flat contents, filters that are disjunctions of conjunctions of constraints."""
