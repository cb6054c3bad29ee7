"""Networks that other programs describe, such as the Internet Topology Zoo's, as overlays."""

from __future__ import annotations

from pathlib import Path

from controller.errors import UsageError
from controller.topology.importing import gml, graphml
from controller.topology.importing.settling import Imported, Wishes, settled

__all__ = ["Imported", "Wishes", "read"]

BYTES_MAX = 20_000_000


def read(path: Path, wishes: Wishes) -> Imported:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; name a GraphML or GML file") from None
    if len(data) > BYTES_MAX:
        raise UsageError(f"{path}: more than {BYTES_MAX // 1_000_000} MB; that is no network for a laboratory")
    # UTF-16 begins with a mark that no GML has.
    is_xml = data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<", b"\xff\xfe", b"\xfe\xff"))
    return settled((graphml if is_xml else gml).parse(data, str(path)), path, wishes)
