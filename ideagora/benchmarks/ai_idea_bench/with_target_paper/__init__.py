"""Evaluation with the target paper (section 3.2.1): IMCQ, I2I, I2T."""
