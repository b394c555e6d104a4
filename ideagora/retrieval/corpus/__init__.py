"""The papers that need no network: the starter corpus and the papers that the user added."""
