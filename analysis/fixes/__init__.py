"""Makes changes of a text that mend a finding, and checks each.

    finding + text ──> kinds (a row for each rule) ──> candidates, by null_test, releasing, freed_earlier, initialising
                                                           │ source_text: the syntax tree of the text as written
                                                           │ written_style: how the surrounding code tests, indents, leaves
                                                           │ placing: where statements go, with their braces
                       confirming: the program with each candidate in it is checked <──┘

A candidate is a guess: it may be wrong about C, or about what the program means. What is offered was checked: with it
the finding is gone, no other one has appeared, everything parses as before, and no message is new. So the parts that make
candidates look at the text only, and refuse what they do not understand: macros, directives inside a function, lines that are
continued, text that does not parse.
"""
