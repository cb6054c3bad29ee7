"""What XML calls a name and a character; names here have no colon."""

from __future__ import annotations

import re

NAME_LENGTH_MAX = 1000

_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME = re.compile(rf"[{_START}][{_START}0-9.\xb7\u0300-\u036f\u203f-\u2040-]*")
NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
