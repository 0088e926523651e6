"""Which flags of a compiler leave the meaning of a program as it is understood here (GCC manual, "Invoking GCC"; Clang command
line argument reference; GNU ld manual, "Options"), or change it in a way that is followed: whether `char` is signed. All others
cast doubt on the file: nothing is proved of it.

The list is of what may be there. Signed overflow wraps in all engines, or ends a run, so that `-fwrapv` is nothing new, and the
results of floating arithmetic are any values. Types are those of the data model: `-m32` fits only if that is ILP32. Flags that
define macros which choose the text, as `-mavx2` and `-march=native` do, are on the list only if the preprocessor gets them too
(`unit_flags.SWITCHES`); so are `-mtune=` and `-mcmodel=`, which change nothing else that C can tell.

- `-fno-strict-aliasing` leaves more defined. Answers that rest on the types of accesses (C11 6.5p7) say so, under this flag too.
- `-fno-builtin`: a function of the library that the program defines itself is that function here, and any other is the
  library's, whose names are reserved (C11 7.1.3).
- `-ffreestanding`, `-nostartfiles`, `-nodefaultlibs` and `-nostdlib` are not on the list: the program need not begin at `main`,
  and functions with names of the library may do something else (C11 5.1.2.1).
- `-fmerge-all-constants` is not: variables may have one address then, which C does not allow.
- `-pg`, `-finstrument-functions` and `-fsanitize-coverage` are not: the program may define the functions that they call.
- `-T` is not: a script can give names another meaning, as `--defsym` does.
"""

from __future__ import annotations

import re

from analysis.frontend.compiler.command_line import has_32_bit_mode
from analysis.model.options import Options
from analysis.model.unit_flags import SWITCHES, UnitFlags, shown

_F = """
    wrapv wrapv-pointer trapv strict-aliasing strict-overflow delete-null-pointer-checks common PIC pic PIE pie plt
    semantic-interposition
    signed-char unsigned-char no-short-enums no-short-wchar no-pack-struct no-ms-extensions no-gnu89-inline no-openmp
    no-fast-math no-finite-math-only builtin(?:-[\\w]+)? hosted
    exceptions non-call-exceptions asynchronous-unwind-tables unwind-tables
    omit-frame-pointer optimize-sibling-calls function-sections data-sections keep-inline-functions
    merge-constants no-merge-all-constants math-errno trapping-math rounding-math fp-contract=\\w+ excess-precision=\\w+
    inline[\\w-]* early-inlining unroll[\\w-]* peel-loops split-[\\w-]+ vectorize slp-vectorize tree-[\\w-]+(?:=\\d+)? ipa-[\\w-]+
    gcse[\\w-]* crossjumping reorder-[\\w-]+ sched[\\w-]*(?:=\\d+)? schedule-[\\w-]+ if-conversion2? caller-saves
    align-(?:functions|loops|jumps|labels)(?:=[\\d:]+)? toplevel-reorder unit-at-a-time whole-program lto[\\w=-]* fat-lto-objects
    use-linker-plugin ident verbose-asm working-directory record-gcc-switches var-tracking[\\w-]* eliminate-unused-[\\w-]+
    debug-[\\w-]+(?:=.*)? stack-[\\w-]+(?:=.*)? cf-protection(?:=(?:full|branch|return|none))?
    sanitize-(?:recover|trap|undefined-trap-on-error|address-use-after-scope)(?:=.*)?
    visibility=\\w+ visibility-[\\w-]+
    profile[\\w-]*(?:=.*)? test-coverage branch-probabilities auto-profile(?:=.*)? coverage-mapping
    diagnostics-[\\w-]+(?:=.*)? message-length=\\d+ color-diagnostics caret-diagnostics show-column max-errors=\\d+
    error-limit=\\d+     macro-prefix-map=.* file-prefix-map=.* debug-prefix-map=.* macro-backtrace-limit=\\d+ analyzer[\\w=-]*
    strict-flex-arrays(?:=\\d)? zero-call-used-regs=[\\w-]+ trivial-auto-var-init=\\w+ zero-initialized-in-bss jump-tables
    no-sanitize=(?!.*(?:address|thread|all)).* dump-[\\w=-]+ save-optimization-record syntax-only
"""
_M = """
    64 red-zone preferred-stack-boundary=\\d+ stackrealign omit-leaf-frame-pointer retpoline[\\w-]*
    indirect-branch[\\w-]*(?:=[\\w-]+)? function-return=[\\w-]+ vzeroupper
"""
_OTHER = """
    -c -S -E -v -s -r -w -pipe -shared -static -rdynamic -pie -no-pie -static-pie
    -nostdinc -undef -trigraphs -pthread -ansi -M -MM -MD -MMD -MP -MG -P -C -H -Q --coverage -coverage
    -save-temps(?:=\\w+)? -time     -static-libgcc -shared-libgcc -symbolic -O[0-3sgz]? -W(?!p,|a,|l,).*
    -pedantic(?:-errors)? -g.* -l.* -L.* -z.*
    --param=.* -Q[\\w-]+ --verbose
"""
# Options of the linker, some with a value. Not `--wrap` and `--defsym`, which give names another meaning.
_LINKER = """
    as-needed no-as-needed no-undefined allow-shlib-undefined no-allow-shlib-undefined gc-sections no-gc-sections build-id
    hash-style sort-common start-group end-group whole-archive no-whole-archive push-state pop-state rpath rpath-link soname
    Map version-script exclude-libs export-dynamic enable-new-dtags disable-new-dtags Bsymbolic Bsymbolic-functions Bstatic
    Bdynamic warn-common fatal-warnings no-warn-rwx-segments strip-all strip-debug s S E z O\\d? relax no-relax
"""
# Options of the assembler. Not `--defsym`, which gives names another meaning, nor names of files.
_ASSEMBLER = """
    a[cdghlmns]*(?:=[^,]*)? -noexecstack -execstack g -g[\\w-]+ -64 -32 -warn -no-warn -fatal-warnings W L -keep-locals
    -compress-debug-sections(?:=\\w+)? -nocompress-debug-sections -reduce-memory-overheads -size-check=\\w+ -divide
    I[^,]* mrelax-relocations=\\w+ march=[\\w.+-]+ mtune=[\\w-]+ mbranches-within-32B-boundaries malign-branch[\\w=+-]*
"""
_LEAVES = re.compile(
    "|".join(
        [
            *(f"-f(?:no-)?(?:{part})" if not part.startswith("no-") else f"-f{part}" for part in _F.split()),
            *(f"-m(?:no-)?(?:{part})" for part in _M.split()),
            *_OTHER.split(),
            rf"-Wa(?:,-(?:{'|'.join(_ASSEMBLER.split())}))+",
            rf"-Wl(?:,--?(?:{'|'.join(_LINKER.split())})(?:=[^,]*)?|,[^-@,][^,]*)+",
        ]
    ),
    re.DOTALL,
)
_CHANGES = frozenset(("-fno-hosted",))
LEAVES_WITH_VALUE = frozenset(("-o", "-MF", "-MT", "-MQ", "-L", "-l", "-u", "-z", "-aux-info", "--param"))
"""Flags with a value of their own, the next argument, that leave the meaning as it is."""

WORD_SIZES = {"-m32": "ILP32", "-m64": "LP64", "-mx32": ""}
"""The data model that each of these flags gives; none that is known for the last."""

_SIGNED = {"-fsigned-char": True, "-fno-unsigned-char": True, "-funsigned-char": False, "-fno-signed-char": False}


OTHER_FLAGS = "text that compile_commands.json compiles with other flags, too"
"""Why nothing is known of a file that other flags may make another text of."""

_MOST_FLAGS = 8  # with which one file is compiled: each costs a run of the preprocessor


def leaves_meaning(flag: str) -> bool:
    """Whether a flag without a separate value is on the list, or no flag but the name of a file."""
    if not flag.startswith("-"):
        return not flag.startswith("@")
    if flag.startswith(("-m", "-fsanitize=")) and flag in SWITCHES:
        return True  # also -m64: whether it fits the data model is looked at in `flags_doubt`
    return flag not in _CHANGES and _LEAVES.fullmatch(flag) is not None


def has_signed_char(flags: UnitFlags) -> bool:
    """Whether `char` is signed under these flags, of which the last one counts; without any, as on x86."""
    return next((_SIGNED[flag] for flag in reversed(flags.switches) if flag in _SIGNED), True)


def flags_doubt(flags: UnitFlags, options: Options) -> str:
    """Why a file may mean something else to the compiler of the build, because of its flags; empty if it does not."""
    sizes = [flag for flag in flags.switches if flag in WORD_SIZES]
    if sizes and WORD_SIZES[sizes[-1]] != options.data_model:
        return f"the compiler flag {sizes[-1]} with the data model {options.data_model}"
    if options.data_model == "ILP32" and not has_32_bit_mode():
        return "macros and headers of another data model than ILP32"
    strange = next(iter((*flags.doubtful, *flags.refused)), "")
    if strange:
        return f"the compiler flag {shown(strange)}"
    return OTHER_FLAGS if _mean_more(flags, options) else ""


def _mean_more(flags: UnitFlags, options: Options) -> bool:
    """Whether other flags for the same file may mean something else, whatever text they give. What the text is under each of them
    is for `preprocess` to see."""
    others, types = flags.others, (flags.standard, has_signed_char(flags))
    if len(others) >= _MOST_FLAGS or any((one.standard, has_signed_char(one)) != types for one in others):
        return True
    return any(flags_doubt(one, options) for one in others)
