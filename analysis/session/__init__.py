"""Keeps one program over its revisions: from files to reports.

What an edit costs is what it changes. Everything else stays the same object as before:

- `units` builds the edited file again. A comment or macro call that is still open does not hide
  the code below, and an incomplete definition does not swallow the next function.
- `cfa.revisions.match` gives the edited function its old ids. If its content did not change, it
  keeps its `Cfa` object. A program of the same `Cfa` objects is not checked again.
- `checking` links the units and runs the automaton engine, which repairs its graph.
- Traces and reports of functions stay the same objects if their places, verdicts and summaries do;
  they are not sent again.
- `scores` is a function of each finding by itself, so it has nothing to repair.
- The first answer after an edit has the findings of the edited functions; with `patient=False`
  others may follow in a second one. `api.Checker.settled` tells whether an answer is the last.
"""
