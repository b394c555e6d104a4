"""The store of papers: Chroma for vectors, SQLite for records and citations, in a folder or on a server."""
