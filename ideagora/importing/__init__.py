"""Import ideas from files of other systems.

``read_ideas`` is the entry point. Each module in ``formats`` reads one file format.
"""

from ideagora.importing.reader import read_all, read_ideas
from ideagora.importing.records import Imported, Problem
from ideagora.importing.storage import find_ideas

__all__ = ["Imported", "Problem", "find_ideas", "read_all", "read_ideas"]
