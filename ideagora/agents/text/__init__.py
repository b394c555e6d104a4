"""Text checks that roles share: quotes, faithfulness, outcomes, instructions and plain style."""
