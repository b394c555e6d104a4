"""Check what an external agent passes and returns: arguments of calls, ideas, references."""
