"""A program with two findings.

The automaton engine does not add n to its double, so its first one is refuted; the other happens for n = 7.
"""

TEXT = """\
int safe(int n)
{
    int x = 1, *p = 0;
    if (2 * n + n == 21)
        p = &x;
    if (n == 7)
        return *p;
    return 0;
}

int bad(int n)
{
    int x = 1, *p = &x;
    if (n * 2 == 14)
        p = 0;
    return *p;
}
"""
