"""What can go wrong for a person at the keyboard, and the exit status that tells a script whose turn it is."""

from __future__ import annotations


class BrokerlabError(Exception):
    """The tool broke: one line for the person, the status for the shell."""

    exit_status = 70


class UsageError(BrokerlabError):
    """The input was wrong; the message says what, and what would be right."""

    exit_status = 64


class EnvironmentProblem(BrokerlabError):
    """The machine lacks something: Docker, Java, a free port."""

    exit_status = 69


class NoAnswer(BrokerlabError):
    """A node that was asked said nothing in time; nothing is known about whether it heard."""
