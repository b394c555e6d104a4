"""Text checks that roles share: quotes, faithfulness, plain wording."""
