"""Ideas that others have made, read into our records.

``read_ideas`` is the one way in; a form of file is one module in ``formats``.
"""

from ideagora.importing.reader import read_all, read_ideas
from ideagora.importing.records import Imported, Problem
from ideagora.importing.storage import find_ideas

__all__ = ["Imported", "Problem", "find_ideas", "read_all", "read_ideas"]
