"""The leaderboard: ratings, intervals, audit of the judges, notes."""
