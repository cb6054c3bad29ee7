"""Random fault schedules: small networks, short lives, and everything that can go wrong at once."""
