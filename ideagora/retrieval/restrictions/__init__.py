"""What a run may not see: papers after the cut-off, excluded papers, the target paper."""
