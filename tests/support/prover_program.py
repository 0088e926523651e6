"""A program with two findings.

The automaton engine does not add n to n, so its first one is refuted; the other happens for n = 7.
"""

TEXT = """\
int safe(int n)
{
    int x = 1, *p = 0;
    if (n + n == 14)
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
