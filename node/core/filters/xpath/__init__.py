"""The XPath language: XML documents, patterns that are trees of steps.

Text → `syntax.Written` → `normal.normal` → `pattern.Step`, the normal form. `shape` flattens it for the two loops that
must be fast, covering (`shape.embeds`) and matching (`evaluation.holds`).
"""
