"""C texts that are each large, deep or odd in one respect; those of `LARGE` take seconds and are for the nightly run."""

from __future__ import annotations


def _switch(count: int) -> str:
    return "int f(int x){switch(x){" + "".join(f"case {n}: x={n + 1}; break;\n" for n in range(count)) + "} return x;}"


def _types(levels: int) -> str:
    lines = [f"typedef int (*t{n})({','.join([f't{n - 1}' if n else 'int'] * 8)});\n" for n in range(levels)]
    return "".join(lines) + f"t{levels - 1} g; int f(void){{ return g != 0; }}"


def _records(levels: int, members: int) -> str:
    lines = ["struct s0{int v;int*p;};\n"]
    lines += [
        f"struct s{n}{{{''.join(f'struct s{n - 1} m{member};' for member in range(members))}}};\n" for n in range(1, levels + 1)
    ]
    path = ".m0" * levels
    return "".join(lines) + (
        f"struct s{levels} g; int f(struct s{levels} *q){{struct s{levels} a = {{0}}, b; b = a; g = b;"
        f" return (int)sizeof a + b{path}.v + (q ? *q->{path[1:]}.p : 0);}}"
    )


def texts(n: int) -> dict[str, str]:
    """The texts, by name, with so many parts."""
    many = range(n)
    return {
        "commas": "int f(int x){" + "x=x+1," * n + "x; return x;}",
        "commas in a value": "int f(int x){return (" + "x=x+1," * n + "x);}",
        "a sum": "int f(int x){return " + "x+" * n + "0;}",
        "assignments": "int f(int x){return " + "x=" * n + "0;}",
        "minus signs": "int f(int x){return " + "- " * n + "x;}",
        "casts": "int f(int x){return " + "(int)" * n + "x;}",
        "parentheses": "int f(int x){return " + "(" * n + "x" + ")" * n + ";}",
        "conditions": "int f(int x){return " + "x?1:" * n + "0;}",
        "ands": "int f(int x){return " + "x&&" * n + "0;}",
        "members": "struct s{struct s*n;};int f(struct s*p){return p" + "->n" * n + "!=0;}",
        "subscripts": "int f(int *p){return p" + "[0]" * n + ";}",
        "calls in calls": "int g(int);int f(int x){return " + "g(" * n + "x" + ")" * n + ";}",
        "blocks": "int f(int x){" + "{" * n + "x++;" + "}" * n + "return x;}",
        "ifs": "int f(int x){" + "if(x)" * n + "x++;return x;}",
        "loops": "int f(int x){" + "while(x)" * n + "x++;return x;}",
        "else ifs": "int f(int x){" + "".join(f"if(x=={k}) x={k + 1}; else " for k in many) + "x=0; return x;}",
        "cases": _switch(n),
        "labels": "int f(int x){" + "".join(f"l{k}: goto l{(k * 7919) % n};\n" for k in many) + "return x;}",
        "locals": "int f(void){" + "".join(f"int a{k}={k};\n" for k in many) + "return a1;}",
        "globals": "".join(f"int a{k}={k};\n" for k in many),
        "parameters": "int f(" + ",".join(f"int a{k}" for k in many) + "){return a1;}",
        "old-style parameters": "int f("
        + ",".join(f"a{k}" for k in many)
        + ")"
        + "".join(f"int a{k};\n" for k in many)
        + "{return a1;}",
        "enumerators": "enum e {" + ",".join(f"e{k}" for k in many) + "}; int f(enum e x){return x==e5;}",
        "elements": "int f(void){int a[]={" + "1," * (5 * n) + "}; return a[3];}",
        "designators": f"int f(void){{int a[{n}]={{" + ",".join(f"[{k}]={k}" for k in range(0, n, 2)) + "};return a[3];}",
        "braces in an initialiser": "int a[]=" + "{" * n + "1" + "}" * n + ";",
        "stars": "int " + "*" * n + "p; int f(void){return p!=0;}",
        "arrays of arrays": "int a" + "[1]" * n + ";",
        "functions of functions": "int " + "(*" * n + "p" + ")(void)" * n + ";",
        "types of types": _types(14),
        "records in records in records": _records(7, 8),
        "records in records": "struct s0{int v;};\n"
        + "".join(f"struct s{k}{{struct s{k - 1} m;}};\n" for k in range(1, n))
        + f"struct s{n - 1} g;",
        "records without names": "struct {" * n + "int x;" + "} m;" * n,
        "typedefs": "typedef int t0;\n" + "".join(f"typedef t{k} t{k + 1};\n" for k in many) + f"t{n} g;",
        "types of variables": "int a0;\n" + "".join(f"__typeof__(&a{k}) a{k + 1};\n" for k in range(min(n, 2000))),
        "string parts": "char *s=" + '"x"\n' * n + ";",
        "statements as values": "int f(int x){return " + "({" * n + "x;" + "})" * n + ";}",
        "generic selections": "int f(int x){return " + "_Generic(x,int:" * n + "x" + ")" * n + ";}",
        "assembler": "int f(void){" + 'asm("nop");' * n + "return 0;}",
        "attributes": "__attribute__((unused)) " * n + "int x;",
        "line directives": "".join(f"#line {k + 1}\n" for k in many),
        "spliced lines": "int a;" + "\\\n" * n + "\n",
        "an open block": "int f(int x){" + "if(x){" * n,
        "quotes": 'char *s="' * n,
        "only opening brackets": "(" * n + "[" * n + "{" * n,
        "only closing brackets": ")" * n + "]" * n + "}" * n,
        "a long name": "int " + "x" * (100 * n) + ";",
        "a long line": "int a[]={" + "1," * (20 * n) + "1};",
        "a long string": 'char *s="' + "x" * (100 * n) + '";',
        "a long comment": "/*" + "x" * (100 * n) + "*/",
        "empty lines": "\n" * (100 * n),
        "carriage returns": "int a;\r" * n,
        "prose": "It was a dark { and stormy night; the rain ( fell in torrents.\n" * (n // 50),
        "recursion": "".join(f"int r{k}(int x){{return r{(k + 1) % 200}(x);}}\n" for k in range(200)),
        "odd directives": "#if 1\n" * 150
        + '#pragma once\n#error no\n#line 2147483647 "x\\ny"\n#include\n#foo\n'
        + "#endif\n" * 150,
        "numbers": "int f(void){return " + "9" * n + "+0x" + "f" * n + "+1e" + "9" * 50 + "+'" + "a" * 100 + "';}",
        "repeated words": "\n".join(repeated_words(5 * n).values()),
    }


def repeated_words(n: int) -> dict[str, str]:
    """Words that are looked for before the text is parsed, again and again, without what ends them; many on a line."""
    block = "int f(void){"
    return {
        "semicolons": block + "\n" + ";" * n + "\nreturn 0;}",
        "computed gotos without an end": block + "goto*a " * n + "}",
        "case ranges without an end": block + "...; " + "case " * n + "}",
        "local labels without an end": block + "__label__ " * n + "}",
        "type operators without an end": block + "typeof(" * n + "}",
        "type operators in each other": block + "typeof(" * (n // 8) + "x" + ")" * (n // 8) + "y;}",
        "blocks after semicolons": block + ";{" * n + "}" * n,
        "linkages in linkages": 'extern "C" {' * n + "}" * n,
        "calls before a block": "V(m)" * n + ";{",
        "silencing comments without an end": "/* everproof: ignore " * n + "*/" + "/* everproof: ignore x " * n,
        "attributes behind a string": 'char *s = "";' + "extern int x __attribute__((unused));" * (n // 2),
        "attributes behind strings": "char *s = " + '"x"' * n + "; int x __attribute__((unused));",
        "assertions in an open string": 'char *s = "' + '_Static_assert(\\"' * n + ";",
    }
