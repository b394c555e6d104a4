"""Adding the user's own papers: readers for PDF, BibTeX, RIS, CSL-JSON and JSON Lines."""
