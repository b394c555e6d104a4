"""Tables, plots and the page of a benchmark's result."""
