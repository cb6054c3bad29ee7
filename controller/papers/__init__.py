"""The experiments of the papers, set up and drawn again."""
