"""The steps of the portfolio, in order: drafting, variation, selection, choice, ranking, finish."""
