"""Schemes with which a broker never gets ready."""

from __future__ import annotations

from node.core.schemes.simple import Simple


class Waiting(Simple):
    name = "waiting"

    def waiting_for(self) -> list[str]:
        return ["godot"]
