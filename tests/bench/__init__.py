"""What things cost, each beside a baseline from the same run: machines are noisy, ratios less so. Asserts no times."""
