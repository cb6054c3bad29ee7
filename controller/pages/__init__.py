"""Pages of one file, in the look of a run's report: prose, tables and line charts; no network, no script.

    curves = {"xroute": [(100, 12.0), (1000, 40.0)], "simple": [(100, 90.0), (1000, 900.0)]}
    figure = chart(curves, "subscriptions", "mean table size, entries", log_x=True, log_y=True, caption="Figure 6")
    beside = table(["what", "the paper", "here"], [["entries at 1,000", 38, 40.0]])
    write(Path("paper.html"), page("XROUTE", [Section("Table sizes", ["What a router holds.", figure, beside])]))

A block of a section is a string, which becomes a paragraph with everything strange in it escaped, or the Markup that
`chart`, `table` or `facts` made. Numbers in a table are written for people and stand right; None becomes a dash.
"""

from __future__ import annotations

from controller.pages.charts import chart
from controller.pages.layout import Block, Section, page, write
from controller.pages.tables import facts, table

__all__ = ["Block", "Section", "chart", "facts", "page", "table", "write"]
