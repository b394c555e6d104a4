"""HTTP for API clients and downloads: rate limits, retries, caching and link checks."""
