"""Drawings of overlays for docs: plain Python from the overlay to the picture, so that they are the same everywhere."""
