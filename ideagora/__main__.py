"""``python -m ideagora``: the command line."""

from ideagora.cli.main import main

main()
