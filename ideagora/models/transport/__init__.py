"""Send a request to a provider: attempts, retries, limits."""
