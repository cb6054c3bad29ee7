from __future__ import annotations

_WINDOW = 60


class FilterError(ValueError):
    """A filter's text is not a filter; `position` is the 0-based index of the character where that shows."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message, text, position)
        self.message = message
        self.text = text
        self.position = position

    def __str__(self) -> str:
        return f"{self.message} (character {self.position + 1} of the filter)"

    def pointer(self) -> str:
        """The text on one line and a caret below the character; long texts are cut to what surrounds it."""
        start = max(0, self.position - _WINDOW)
        end = min(len(self.text), self.position + _WINDOW)
        head = "…" if start else ""
        tail = "…" if end < len(self.text) else ""
        # One column per character, so that the caret stands below the right one.
        shown = "".join(char if char.isprintable() else " " for char in self.text[start:end])
        return f"{head}{shown}{tail}\n{' ' * (len(head) + self.position - start)}^"


class ContentError(ValueError):
    """Something is not a content that may be published."""
