"""The command line: declares commands with their options; ``ideagora.commands`` carries them out."""
