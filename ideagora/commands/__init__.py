"""What each command does, behind the command line: nothing here parses, nothing below prints."""
