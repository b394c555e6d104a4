"""Sources of literature: API clients, plug-ins, and the classes that combine them."""
