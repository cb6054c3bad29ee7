"""A world of news in XML: its DTD, patterns that readers subscribe to, documents that agencies publish."""
