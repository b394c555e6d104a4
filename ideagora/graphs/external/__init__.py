"""External agents: functions, graphs, commands, files of ideas and installed packages."""
