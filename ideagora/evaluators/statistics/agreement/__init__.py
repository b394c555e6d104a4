"""Agreement of raters, and the audit of judges."""
