"""Takes if-then-else out of terms: each choice becomes a new symbol, and a definition of it.

A symbol belongs to one partition, so that no interpolant has it.
"""

from __future__ import annotations

from analysis.smt.logic.substitution import rebuilt
from analysis.smt.logic.term_building import and_, eq, not_, or_, symbol
from analysis.smt.logic.terms import Term, subterms


def without_choices(formula: Term, partition: int) -> Term:
    """A formula that has a model with the same values of the old symbols wherever the given one has. Choices between Booleans
    stay."""
    done: dict[Term, Term] = {}
    definitions: list[Term] = []
    for part in subterms((formula,)):
        args = tuple([done[argument] for argument in part.args])
        if part.op == "ite" and part.sort.kind != "Bool":
            made = symbol(f"choice!{partition}!{part.digest.hex()}", part.sort)
            condition, then, otherwise = args
            definitions.append(or_(not_(condition), eq(made, then)))
            definitions.append(or_(condition, eq(made, otherwise)))
            done[part] = made
        else:
            done[part] = rebuilt(part, args)
    return and_(done[formula], *definitions)
