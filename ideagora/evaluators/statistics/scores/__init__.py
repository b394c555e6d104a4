"""Figures from scores of samples: means, percentiles, paired tests, effects of conditions and judges."""
