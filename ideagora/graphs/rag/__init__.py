"""Retrieved papers in one prompt: the plain baseline with literature."""
