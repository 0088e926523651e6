"""Programs that violate within the bound, each by a detail of C that a formula could lose: no level may say that they hold."""

from __future__ import annotations

import pytest

from analysis.engines.summary.level_chain import LevelChain
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.engines.summary.tree_interpolation import LiteralsFirst
from tests.support.explorations import program_of

HEAD = """void reach_error(void); int nondet(void); void *malloc(unsigned long); void *memset(void *, int, unsigned long);
void unknown(int *); void exit(int); void __VERIFIER_assume(int);
"""
VIOLATED = {
    "static local": "static int f(void){static int n; return ++n;} int main(void){f(); if(f()==2) reach_error();}",
    "large structure passed": (
        "struct s{int a;char b[200];}; static void g(struct s v){ if(v.b[3]==5) reach_error(); } int "
        "main(void){struct s x; memset(&x,0,sizeof x); x.b[3]=5; g(x);}"
    ),
    "structure returned": (
        "struct s{int a;int b;}; static struct s mk(int n){struct s r; r.a=n; r.b=n+1; return r;} int "
        "main(void){struct s x=mk(3); if(x.b==4) reach_error();}"
    ),
    "union returned": (
        "union u{int i; char c[4];}; static union u mk(int n){union u r; r.i=n; return r;} int "
        "main(void){union u x=mk(258); if(x.c[0]==2) reach_error();}"
    ),
    "called pointer": (
        "static int a(int n){return n+1;} static int b(int n){return n+2;} int "
        "main(void){int(*p)(int)=nondet()?a:b; if(p(1)==3) reach_error();}"
    ),
    "pointer to pointer": (
        "int g; static void set(int **pp){*pp=&g;} int main(void){int x=0;int *p=&x; set(&p); *p=7; if(g==7) reach_error();}"
    ),
    "swap": (
        "static int swap(int *a,int *b){int t=*a;*a=*b;*b=t;return 0;} int main(void){int x=1,y=2; "
        "swap(&x,&y); if(x==2&&y==1) reach_error();}"
    ),
    "external function writes": "static void f(int *p){ unknown(p);} int main(void){int x=1; f(&x); if(x==5) reach_error();}",
    "external function writes globals": "int g=1; int main(void){ unknown(0); if(g==5) reach_error();}",
    "element at an index": (
        "int arr[5]; static void w(int i,int v){arr[i]=v;} int main(void){ int i=nondet(); if(i<0||i>4) "
        "return 0; w(i,3); if(arr[2]==3) reach_error();}"
    ),
    "list": (
        "struct n{int v; struct n*next;}; static struct n*push(struct n*h,int v){struct n*x=malloc(sizeof "
        "*x); if(!x) exit(1); x->v=v;x->next=h;return x;} int main(void){struct n*h=0; h=push(h,1); "
        "h=push(h,2); if(h->next->v==1) reach_error();}"
    ),
    "recursion in two branches": (
        "static int fib(int n){return n<2?n:fib(n-1)+fib(n-2);} int main(void){ if(fib(4)==3) reach_error();}"
    ),
    "global in recursion": (
        "int g; static int r(int n){ g++; if(n) r(n-1); return g;} int main(void){ if(r(3)==4) reach_error();}"
    ),
    "recursion of two functions": (
        "static int even(int); static int odd(int n){return n?even(n-1):0;} static int even(int n){return "
        "n?odd(n-1):1;} int main(void){ if(even(4)) reach_error();}"
    ),
    "goto out of a loop": "int main(void){int i=0; do{ if(i==2) goto out; i++; }while(i<9); out: if(i==2) reach_error();}",
    "break and continue": (
        "int main(void){int n=0; for(int i=0;i<3;i++){ for(int j=0;j<3;j++){ if(j==1) continue; if(i==2) "
        "break; n++; } } if(n==4) reach_error();}"
    ),
    "function in a variable": "static void err(void){reach_error();} static void (*h)(void)=err; int main(void){ h(); }",
    "arguments of main": "int main(int argc,char**argv){ if(argc==3) reach_error(); }",
    "increment in an argument": (
        "static int f(int a,int b){return a-b;} int main(void){ int x=3; if(f(x++,1)==2 && x==4) reach_error(); }"
    ),
    "conversion of a result": (
        "static long f(int a){return a;} int main(void){ int x=f(-1); unsigned u=f(-1); "
        "if(x==-1&&u==4294967295u) reach_error(); }"
    ),
    "narrow result": "static char f(int a){return a;} int main(void){ if(f(300)==44) reach_error(); }",
    "narrow parameter": "static int f(unsigned char a){return a;} int main(void){ if(f(256+7)==7) reach_error(); }",
    "global through a pointer": (
        "int g; static int f(void){return g;} int main(void){ int *p=&g; *p=4; if(f()==4) reach_error(); }"
    ),
    "pointer returned": (
        "static int *loc(int *p){return p;} int main(void){int a=1,b=2; int *q=loc(nondet()?&a:&b); *q=9; "
        "if(b==9) reach_error();}"
    ),
    "array of a second call": (
        "static void f(int n){ int a[3]; a[n]=5; if(a[n]==5&&n==2) reach_error(); } int main(void){ f(1); f(2);}"
    ),
    "assumption": "int main(void){ int x=nondet(); __VERIFIER_assume(x>3); if(x==4) reach_error(); }",
    "switch": (
        "static int f(int n){ switch(n){case 0: return 5; case 1: n++; default: n+=2;} return n;} int "
        "main(void){ if(f(1)==4) reach_error(); }"
    ),
    "characters": ("static void s(char*d){ d[0]='a'; d[1]=0;} int main(void){ char b[4]; s(b); if(b[0]=='a') reach_error(); }"),
    "floating global": "double d; static void f(double x){ d=x; } int main(void){ f(nondet()); if(d>1.5) reach_error(); }",
    "result used after recursion": (
        "static int f(int n){ if(n==0) return 1; int r=f(n-1); return r*2;} int main(void){ if(f(3)==8) reach_error(); }"
    ),
    "calls in calls": "static int id(int n){return n;} int main(void){ if(id(id(id(2)))==2) reach_error(); }",
    "bit field": (
        "struct s{int f; unsigned b:3;} g; static void set(unsigned v){g.b=v;} int main(void){ set(9); "
        "if(g.b==1) reach_error(); }"
    ),
    "pointer kept": ("int *p; static void keep(int *q){p=q;} int main(void){int x=1; keep(&x); *p=6; if(x==6) reach_error();}"),
    "pointer into an array": (
        "static void twice(int *x){ *x*=2; } int main(void){int a[2]={1,2}; for(int i=0;i<2;i++) "
        "twice(&a[i]); if(a[0]==2&&a[1]==4) reach_error();}"
    ),
    "call in a condition": (
        "static int c; static int next(void){return c++;} int main(void){ int s=0; while(next()<3) s++; if(s==3) reach_error();}"
    ),
}


@pytest.mark.parametrize("name", VIOLATED)
def test_what_violates_never_holds(name: str) -> None:
    chain = LevelChain(ChainOptions(bound=5), make=lambda _level: LiteralsFirst(None))
    found = chain.verify(program_of(HEAD + VIOLATED[name]))
    assert (found.level, found.status) == ("int", "possible"), found
    assert found.violated
