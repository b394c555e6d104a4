"""Agents from outside: functions, graphs, commands, files of ideas and packages become ``Agent``s."""
