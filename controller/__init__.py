"""What runs on the experimenter's machine."""
