"""HTTP for API clients and downloads: rate limits, retries, cache, and checks of foreign links."""
