"""An agent as a program in any language: reads the topic as a JSON line, writes ideas as JSON lines.

A line {"ask": …} is a request; the next input line is its answer. See docs/plugins.md.
"""

import json
import sys


def ask(**question):
    """Return the answer of the library or the model."""
    print(json.dumps({"ask": question}), flush=True)
    answer = json.loads(sys.stdin.readline())
    return answer["answer"] if "answer" in answer else sys.exit(answer["error"])


topic = json.loads(sys.stdin.readline())
papers = ask(search=topic["topic"], k=5)
print(f"{len(papers)} papers found", file=sys.stderr)
if papers:
    material = "\n\n".join(f"{paper['title']}\n{paper['abstract']}" for paper in papers)
    method = ask(model=f"Propose a method for {topic['topic']} from these papers:\n\n{material}")
    print(json.dumps({"title": f"Open problems in {topic['topic']}", "method": method,
                      "references": [paper["id"] for paper in papers]}))  # fmt: skip
