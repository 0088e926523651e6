"""Declarations that are read once for all files say the same as those that each file reads for itself.

The class: an answer of one file that is used in another one, though something that it depends on is another there.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.c.linkage import FileLinkage
from analysis.cfa.building import unit
from analysis.frontend.declarations import shared_declarations
from analysis.frontend.declarations.file_level import FileLevel, FileReader
from analysis.frontend.declarations.shared_declarations import SharedFile
from analysis.frontend.syntax.parser import Node, parse
from analysis.model.c_types import ILP32, LP64, DataModel

PARTS = [
    "typedef unsigned long size_t;",
    "typedef unsigned int size_t;",
    "typedef short size_t;",
    "struct point { size_t x; int y[sizeof(size_t)]; };",
    "struct point;",
    "struct point { char c; };",
    "struct point where(struct point *p, size_t n);",
    "struct line { struct point *from, to; size_t n : 3; };",
    "typedef struct line line;",
    "line *lines(void);",
    "enum colour { RED = 3, GREEN = sizeof(struct point) };",
    "enum { RED = 7, SIZE = RED + 1 };",
    "extern int table[RED];",
    "int table[];",
    "extern int errors;",
    "static int errors = SIZE;",
    "static int *at_errors = &errors;",
    "static int count(int a) { return a; }",
    "static inline int half(size_t n) { return n / 2; }",
    "int count(int);",
    "int count();",
    "typeof(count(1)) counted;",
    "typeof(errors) other_errors;",
    "extern __typeof__(count) count_again;",
    "int old(a, b) char a; size_t b; { return b; }",
    'extern int scan(const char *, ...) __asm__("__isoc99_scan") __attribute__((nonnull(1)));',
    "void leave(int) __attribute__((noreturn));",
    "void leave(int);",
    "__attribute__((weak)) int maybe(void);",
    "int maybe(void) __attribute__((pure));",
    "#pragma pack(push, 1)\nstruct packed { char c; size_t n; };\n#pragma pack(pop)",
    "#pragma pack(2)",
    "struct plain { char c; double d; };",
    "typedef int word __attribute__((mode(HI)));",
    "struct wide { word w; } __attribute__((aligned(16)));",
    "#pragma weak where",
    '_Static_assert(sizeof(int) == 4, "int");',
    "typedef int (*compare)(const void *, size_t);",
    "void sort(compare by, struct unseen *what);",
    "union both { struct point p; line *l; };",
    "int first = 1, second;",
    "void early(void) __attribute__((constructor));",
    "void late(void) __attribute__((constructor));",
    "void at_end(void) __attribute__((destructor));",
    '__asm__("# nothing");',
    '__asm__(".globl poke");',
    "stray_text_that_is_no_declaration;",
    "static int (*by)(int) = count;",
    "static int (*again)(int) = count;",
    "#pragma pack(push, 1)",
    "#pragma pack(pop)",
    "#pragma pack()",
    'void (*action)(int) __attribute__((section(".init_array")));',
    "char filled[sizeof(undeclared(1))];",
    "typeof(({ int y = 1; y; })) computed;",
    "int broken(;",
    "unknown_t lost(void);",
]


def _plain(reader: FileReader, _file: SharedFile, nodes: list[Node]) -> None:
    for node in nodes:
        reader.read(node)


def _level(text: str, path: str, model: DataModel = LP64, system: int = 0) -> FileLevel:
    """The level of a text of which the first bytes are a header of the system."""
    return unit.build_unit(path, parse(text.encode()), model, None, lambda offset: offset < system).level


def _shown(level: FileLevel) -> list[object]:
    tables = (level.scope.names, level.scope.tags, level.scope.records, level.variables, level.functions)
    linkage = [getattr(level.linkage, field) for field in level.linkage.__struct_fields__]
    listed = [list(table.items()) if isinstance(table, dict) else table for table in (*tables, *linkage)]
    return [*listed, level.address_taken, level.refused]


@pytest.fixture(autouse=True, scope="module")
def small_groups():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_declarations, "_ONE_IN", 2)
        patch.setattr(shared_declarations, "_kept", {})
        yield


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=12), st.sampled_from(["a.c", "b.c"]), st.booleans(), st.data())
def test_shared_declarations_say_what_the_file_says(parts: list[str], path: str, is_narrow: bool, data: st.DataObject) -> None:
    text, model = "\n".join(parts) + "\n", ILP32 if is_narrow else LP64
    system = data.draw(st.sampled_from([0, len(text) // 2, len(text)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "read_sharing", _plain)
        alone = _level(text, path, model, system)
    assert _shown(_level(text, path, model, system)) == _shown(alone)


ATTRIBUTE = "__attribute__((noreturn))"
HALF = "static int half(int n) { return n / 2; }\n"
AFTER_EACH_OTHER: dict[str, list[tuple[str, DataModel, int]]] = {
    "a function that was declared before": [
        ("int x;\nvoid leave(int);\n", LP64, 0),
        (f"void leave(int) {ATTRIBUTE};\nint x;\nvoid leave(int);\n", LP64, 0),
    ],
    "another type of the same name": [
        ("typedef unsigned long size;\nextern size there;\n", LP64, 0),
        ("typedef unsigned short size;\nextern size there;\n", LP64, 0),
    ],
    "an attribute": [
        (f"void leave(int) {ATTRIBUTE};\n", LP64, 0),
        (f"void leave(int) {' ' * len(ATTRIBUTE)};\n", LP64, 0),
    ],
    "a pragma further up": [
        ("int x;\nint y;\nstruct plain { char c; double d; };\n", LP64, 0),
        ("int x;\n#pragma pack(2)\nint y;\nstruct plain { char c; double d; };\n", LP64, 0),
    ],
    "another data model": [("typedef char size[sizeof(long)];\n", LP64, 0), ("typedef char size[sizeof(long)];\n", ILP32, 0)],
    "a header of the system": [("int scan(const char *);\n", LP64, 0), ("int scan(const char *);\n", LP64, 9)],
    "a second definition": [
        (HALF + HALF, LP64, 0),
        ("static int half(int n);\n" + HALF, LP64, 0),
    ],
    "what runs before main": [
        ("void early(void) __attribute__((constructor));\nint x;\nvoid late(void) __attribute__((constructor));\n", LP64, 0),
        ("int x;\nvoid late(void) __attribute__((constructor));\n", LP64, 0),
    ],
    "code of the assembler": [
        ('__asm__("# nothing");\nint x;\n__asm__(".globl poke");\n', LP64, 0),
        ('int x;\n__asm__(".globl poke");\n', LP64, 0),
    ],
    "an address that is taken twice": [
        ("int h(void);\nint (*p)(void) = h;\nint x;\nint (*q)(void) = h;\n", LP64, 0),
        ("int h(void);\nint x;\nint (*q)(void) = h;\n", LP64, 0),
    ],
    "packing that comes back": [
        ("int x;\n#pragma pack(push, 1)\nint y;\n#pragma pack(pop)\nstruct plain { char c; double d; };\n", LP64, 0),
        (
            "#pragma pack(2)\nint x;\n#pragma pack(push, 1)\nint y;\n#pragma pack(pop)\nstruct plain { char c; double d; };\n",
            LP64,
            0,
        ),
    ],
    "a record that was only named": [
        ("struct s;\nextern struct s *p;\nstruct t { struct s inside; };\n", LP64, 0),
        ("struct s { int a; };\nextern struct s *p;\nstruct t { struct s inside; };\n", LP64, 0),
    ],
}


def test_all_that_a_file_says_is_of_names_or_of_the_file() -> None:
    linkage = FileLinkage()
    tables = [id(table) for table in (*linkage.by_name, *linkage.of_the_file)]
    fields = [getattr(linkage, field) for field in linkage.__struct_fields__]
    assert sorted(tables) == sorted(id(table) for table in fields if isinstance(table, dict))


@pytest.mark.parametrize("name", AFTER_EACH_OTHER)
def test_what_differs_is_read_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_declarations, "_kept", {})
    monkeypatch.setattr(shared_declarations, "_ONE_IN", 1)
    shared = [_level(text, "a.c", model, system) for text, model, system in AFTER_EACH_OTHER[name]]
    monkeypatch.setattr(unit, "read_sharing", _plain)
    for level, (text, model, system) in zip(shared, AFTER_EACH_OTHER[name], strict=True):
        assert _shown(level) == _shown(_level(text, "a.c", model, system))


HEADER = "".join(
    f"struct s{n} {{ int m[{n}]; }};\ntypedef struct s{n} *p{n};\nextern p{n} f{n}(struct s{n} *, int);\n" for n in range(1, 99)
)


@pytest.mark.parametrize("first", ["int own;\n", "struct s4;\n", "static int f3(int);\n", "#define X 1\n"])
def test_a_header_is_read_once(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_declarations, "_kept", {})
    read: list[Node] = []
    really = FileReader.read
    monkeypatch.setattr(FileReader, "read", lambda reader, node: (read.append(node), really(reader, node))[1])
    _level(HEADER + "int last;\n", "a.c")
    once = len(read)
    assert once > 290
    _level(first + HEADER + "int other;\n", "b.c")
    assert len(read) - once <= 2 * shared_declarations._LONGEST


def test_a_static_function_of_a_header_is_one_of_each_file() -> None:
    text = "static int of_all(int a) { return a; }\ntypedef __typeof__(of_all(1)) result;\n" + HEADER
    names = [_level(text, path).functions["of_all"].linkage for path in ("a.c", "b.c", "a.c")]
    assert names == ["a.c::of_all", "b.c::of_all", "a.c::of_all"]


def test_no_more_is_kept_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_declarations, "_kept", {})
    monkeypatch.setattr(shared_declarations, "_MOST", 5)
    _level(HEADER, "a.c")
    assert len(shared_declarations._kept) == 5
    assert _shown(_level(HEADER, "a.c")) == _shown(_level(HEADER, "b.c"))


def test_what_depends_on_earlier_declarations_is_kept_in_few_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_declarations, "_kept", {})
    for number in range(1, 9):
        assert (
            _level(f"typedef char size_t[{number}];\nextern size_t there;\n", "a.c").variables["there"].var.type.length == number
        )
    assert max(map(len, shared_declarations._kept.values())) <= shared_declarations._VARIANTS
