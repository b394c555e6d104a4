"""Evaluation with other references (section 3.2.2): IC, NA, FA, FPS."""
