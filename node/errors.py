"""Errors of whoever starts a node; each ends the process with one line and its own status."""

from __future__ import annotations


class NodeError(Exception):
    exit_status = 70


class ConfigError(NodeError):
    """What was given to the node is wrong."""

    exit_status = 64


class HostError(NodeError):
    """The machine does not give what the node needs."""

    exit_status = 69
