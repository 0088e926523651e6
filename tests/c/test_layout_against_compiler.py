"""Sizes, alignments and offsets of random records are those of the compiler, on LP64 and ILP32."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.c.layout import Layout
from analysis.model import ir
from analysis.model.c_types import ILP32, LP64, DataModel, Record
from tests.support.lowered import unit_of

RECORDS = 150
TYPES = (
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "long long",
    "_Bool", "float", "double", "long double", "void *", "int (*)(void)", "enum { A, B }",
)  # fmt: skip


def attribute(random: Random) -> str:
    """An attribute of a member or record that changes its layout, half of the time."""
    one = ["packed", "aligned(2)", "aligned(8)", "__aligned__(4)", "aligned", "packed, aligned(2)", "aligned(32)", "unused"]
    return f"__attribute__(({random.choice(one)}))" if random.random() < 0.5 else ""


def attributed(random: Random, depth: int, prefix: str) -> list[tuple[str, str, bool]]:
    """Members of which some have attributes, before or behind their declarators, and inner records that have some."""
    found: list[tuple[str, str, bool]] = []
    for number in range(random.randrange(1, 6)):
        name, type_, kind = f"{prefix}{number}", random.choice(TYPES[:15]), random.randrange(6)
        if kind == 0:
            found.append((f"{attribute(random)} {type_} {name};", name, True))
        elif kind == 1:
            found.append((f"_Alignas(16) {type_} {name};", name, True))
        elif kind == 2:
            most = random.choice([8, 31])
            found.append((f"unsigned {name} : {random.randrange(1, most + 1)};", name, False))
        elif kind == 3 and depth > 0:
            inner = " ".join(text for text, _, _ in attributed(random, depth - 1, f"{name}_"))
            found.append((f"struct {{ {inner} }} {attribute(random)} {name} {attribute(random)};", name, True))
        else:
            found.append((f"{type_} {name}{random.choice(['', '[3]'])} {attribute(random)};", name, True))
    return found


def packed_records(random: Random) -> tuple[str, dict[str, list[tuple[str, str, bool]]]]:
    """Definitions of records with attributes and between pragmas, and their members."""
    pragmas = ["(1)", "(2)", "(4)", "()", "(push, 1)", "(push)", "(pop)", "(push, a, 2)", "(pop, a)", "(16)"]
    text, records = "", {}
    for number in range(RECORDS):
        tag = f"s{number}"
        records[tag] = attributed(random, 2, "m") if number % 3 else members(random, 1, "m")
        if random.random() < 0.5:
            text += f"#pragma pack{random.choice(pragmas)}\n"
        body = " ".join(part for part, _, _ in records[tag])
        said = ["", attribute(random)]
        random.shuffle(said)
        text += f"struct {said[0]} {tag} {{ {body} }} {said[1]};\n"
    return text, records


def members(random: Random, depth: int, prefix: str) -> list[tuple[str, str, bool]]:
    """Declarations of members, with their names and whether these have an offset; unnamed ones have an empty name."""
    found: list[tuple[str, str, bool]] = []
    for number in range(random.randrange(1, 7)):
        name, kind = f"{prefix}{number}", random.randrange(12)
        if kind < 5:
            type_ = random.choice(TYPES[:15])
            found.append((f"{type_} {name};", name, True))
        elif kind < 8:
            type_, most = random.choice(
                [("int", 32), ("unsigned", 32), ("char", 8), ("short", 16), ("unsigned long long", 64), ("_Bool", 1)]
            )
            found.append((f"{type_} {name} : {random.randrange(1, most + 1)};", name, False))
        elif kind == 8:
            found.append((f"int : {random.choice([0, 1, 7, 20])};", "", False))
        elif kind == 9:
            found.append((f"{random.choice(TYPES[:15])} {name}[{random.randrange(1, 6)}];", name, True))
        elif depth > 0:
            inner = members(random, depth - 1, f"{name}_")
            body = " ".join(text for text, _, _ in inner)
            keyword = random.choice(["struct", "union"])
            if kind == 10:
                found.append((f"{keyword} {{ {body} }} {name};", name, True))
            else:
                found.append((f"{keyword} {{ {body} }};", "", False))
                found += [("", inner_name, named) for _, inner_name, named in inner]
        else:
            found.append((f"double {name};", name, True))
    return found


@pytest.mark.parametrize(("model", "flag"), [(LP64, "-m64"), (ILP32, "-m32")])
def test_records(tmp_path: Path, model: DataModel, flag: str) -> None:
    random = Random(107)
    records = {f"s{number}": members(random, 2, "m") for number in range(RECORDS)}
    text = "".join(f"struct {tag} {{ {' '.join(t for t, _, _ in parts)} }};\n" for tag, parts in records.items())
    compare(tmp_path, text, records, model, flag)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("model", "flag"), [(LP64, "-m64"), (ILP32, "-m32")])
def test_records_with_attributes_and_between_pragmas(tmp_path: Path, model: DataModel, flag: str, seed: int) -> None:
    text, records = packed_records(Random(seed))
    compare(tmp_path, text, records, model, flag)


def compare(tmp_path: Path, text: str, records: dict[str, list[tuple[str, str, bool]]], model: DataModel, flag: str) -> None:
    """Has gcc check sizes, alignments and offsets."""
    layout = Layout(model, unit_of(text, model=model).records.get)
    checks = []
    for tag, parts in records.items():
        record = Record("struct", f"struct {tag}")
        if layout.size(record) is None:
            assert "attribute" in text
            continue  # what is not understood has no layout
        checks.append(f'_Static_assert(sizeof(struct {tag}) == {layout.size(record)}, "size of {tag}");')
        checks.append(f'_Static_assert(_Alignof(struct {tag}) == {layout.alignment(record)}, "alignment of {tag}");')
        for _, name, has_offset in parts:
            if name and has_offset:
                offset = layout.offset(record, name)
                checks.append(f'_Static_assert(__builtin_offsetof(struct {tag}, {name}) == {offset}, "{tag}.{name}");')
    assert len(checks) > (4 if "attribute" not in text else 3) * RECORDS
    (tmp_path / "t.c").write_text(text + "\n".join(checks) + "\n")
    done = subprocess.run(["gcc", flag, "-w", "-fsyntax-only", "t.c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(("model", "flag"), [(LP64, "-m64"), (ILP32, "-m32")])
def test_alignments_of_types(tmp_path: Path, model: DataModel, flag: str) -> None:
    """`__alignof__` is what variables are aligned to, which on i386 is more for 64 bits than `_Alignof`."""
    types = [*TYPES[:16], "unsigned long long", "long long[3]", "struct s", "union u", "struct s[2]"]
    operands = [f"{operator}({type_})" for type_ in types for operator in ("_Alignof", "__alignof__", "__alignof")]
    text = "struct s { char c; double d; }; union u { char c; long long l; };\n"
    functions = "".join(f"unsigned long f{number}(void) {{ return {one}; }}\n" for number, one in enumerate(operands))
    effects = [function.cfa.edges[0].effect for function in unit_of(text + functions, model=model).functions]
    values = [effect.value for effect in effects if isinstance(effect, ir.Return)]
    checks = [
        f'_Static_assert({one} == {value.value}, "{one}");'
        for one, value in zip(operands, values, strict=True)
        if isinstance(value, ir.IntConst)
    ]
    assert len(checks) == len(operands)
    (tmp_path / "t.c").write_text(text + "\n".join(checks) + "\n")
    done = subprocess.run(["gcc", flag, "-w", "-fsyntax-only", "t.c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "text",
    [
        "struct s { char c; float _Complex z; }; int f(void) { return sizeof(struct s) - 8; }",
        "struct s { char c; _Complex float z; }; int f(void) { return sizeof(struct s) - 8; }",
        "typedef __complex__ float z; struct s { char c; z z; }; int f(void) { return sizeof(struct s) - 8; }",
        "int f(void) { return sizeof(float _Complex) - 4; }",
        "int f(void) { float _Complex z; return sizeof z - 4; }",
        "struct s { char c; _Atomic long long l; }; int f(void) { return sizeof(struct s) - 12; }",
        "struct s { char c; _Atomic(double) l; }; int f(void) { return sizeof(struct s) - 12; }",
        "struct s { char c; }; int f(void) { return _Alignof(_Atomic struct s); }",
    ],
)
def test_what_is_not_laid_out_has_no_size(text: str) -> None:
    """gcc gives these records and types other sizes than those that are subtracted."""
    cfa = next(function.cfa for function in unit_of(text, model=ILP32).functions)
    assert not any(isinstance(edge.effect, ir.Return) and isinstance(edge.effect.value, ir.IntConst) for edge in cfa.edges) or (
        cfa.unsupported
    )
