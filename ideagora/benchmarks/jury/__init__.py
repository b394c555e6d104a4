"""Juries: ideas rated on stated criteria by judges drawn from a panel of models, as in LiveIdeaBench."""
