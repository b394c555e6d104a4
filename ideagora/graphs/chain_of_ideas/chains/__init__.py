"""Construction of the chains: anchors, and the papers that extend them at both ends."""
