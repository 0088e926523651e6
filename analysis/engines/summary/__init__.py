"""Verifies revisions of a program within a bound, by repaired summaries of calls ([UPPROVER]).

    level_chain (cheapest theory first)
      │
    revision_chain ── unwound_program ── body_encoding (C as partitions; loop_unwinding; known_bodies)
      │                     ├── partition_abstraction (light theories)
      │                     ├── reached_places (is any check reached?)
      │                     └── call_tree (a node for each call)
      ├── validation (Algorithm 3; validation_work says what was done) ── weakening (Algorithm 4)
      │      └── postponed_summaries ── summary_strengthening (interpolants, line 17) ── tree_interpolation
      └── summary_refinement (Algorithm 5) ── substitution_schemes (Algorithm 2)

- **Partitions.** The body of each function becomes one formula over its inputs, outputs and four literals: the call returns,
  comes to a violation, comes to what is not modelled (a *flaw*), or comes to the bound. Calls in it are slots. The formula of a
  program is the conjunction of one instance for each call. Globals and memory are inputs and outputs, as far as they are read
  and changed.
- **The bound.** Each loop jumps back at most so many times each time that it is entered, and each function is active at most so
  many times at once. An answer names the bound and says whether it left out any run. It is never `safe`. If no run within the
  bound comes to a check, there is no answer: it would say nothing.
- **Summaries** are formulas over the interface of a call. Each follows from the body of the call and the summaries of the calls
  in it (property (8)), and that of `main` excludes violations and flaws (property (7)); tests ask for both of whole trees
  (`property_check`). A call without a summary is a part of its caller.
- **Interpolants** may come from anywhere: each is checked before it counts. They are made node after node, each against the rest
  with the interpolants made so far, which gives the tree property. The rest is asserted once (`standing_formulas`).
- **Levels.** Partitions of whole numbers are weakened to linear real arithmetic or to equality, where that is enough. What does
  not hold in a light theory is asked in the next one.
- **Changes.** Bodies that are as they were, with all that they depend on, are not encoded again (`known_bodies`). A call is the
  same in two revisions if the same edges lead to it (invariant I4). Its summary needs no validation if the formula of its
  function is the same, to the letter. All else is validated. Summaries of calls that are gone are candidates for new calls of
  the same body or name. Whether `main` still holds is asked before interpolants are made, and first of all where it and most
  calls have changed: no summary is repaired for what is violated.
- **Budgets** count work. One implication, the interpolants that follow from it, and all of a repair take at most what one
  question to the solver may. A repair that takes more, or half of the time that is left, is given up: the revision is verified
  from nothing, as the first one was. Each level has its share of the time, and interpolants take at most half of what is left.
  What would be another answer with more time says so, and is asked again.

What is not understood is a flaw, or there is no answer but `unknown` (`unwound_program`): recursive functions with variables in
memory, and reads of variables without a value, are among that. Formulas over-approximate in places, so that who gets an answer
`possible` has to look for a run (`session.portfolio.bounded_answers`).

What the next revision reuses goes between processes as text (`known_calls`). Summaries of a text that anybody could have
written are all validated first.
"""
