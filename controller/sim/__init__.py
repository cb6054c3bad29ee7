"""A cluster in virtual time: real broker and client states on a simulated wire, and nothing of the host in its logs."""
