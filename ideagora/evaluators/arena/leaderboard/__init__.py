"""From verdicts to the leaderboard: ratings, intervals, audit of the judges, notes."""
