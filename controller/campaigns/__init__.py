"""Experiments: what a campaign file says, and how it is carried out."""
