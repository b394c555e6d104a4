"""Agreement between raters, and blind ballots for people."""
