"""What competes: contestants, the line-up of their ideas, its diversity, and text that addresses a judge."""
