"""Full texts: which sections a role is shown, and where texts are read from."""
