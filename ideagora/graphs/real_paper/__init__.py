"""A published paper as an idea among others: the human baseline."""
