"""Your own papers: readers for PDF, BibTeX, RIS, CSL-JSON and JSON lines, and the way into the store."""
