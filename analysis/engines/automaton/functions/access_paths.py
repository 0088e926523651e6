"""Access paths: the names under which a function can reach a value, k-limited [ACCESS-PATHS].

A path is a tuple of strings: a root, then one operation after the other.

- root: a local variable, parameter or temporary by name; a global as `@name`; `RESULT`, the value that the
  function returns; `CALLER`, any path of some caller that the function itself cannot reach.
- operation: `*` (the object pointed to), `.f` (a member), `[3]` or `[i]` (an array element; the index is a constant
  or a variable), `*[3]` or `*[i]` (the object at that distance from the one pointed to), and, only as the last one,
  `&` (the address of what the path named so far), or `INSIDE` (`facts.interior`).

Examples: `p->next->data` is ("p", "*", ".next", "*", ".data"); `&m` is ("m", "&"); global `a[2]` is ("@a", "[2]").

A path denotes a value, read from an object, so a write to any object on the way changes it. Which writes
reach which paths is decided by *cells*: names of sets of objects, chosen so that two accesses to one object
share a cell (by types, [TYPE-ALIASES]): a variable's own name, `.f` for member f behind any pointer, and `*T`
for objects of scalar type T behind a pointer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from analysis.model import ir
from analysis.model.c_types import Pointer, spell

Path = tuple[str, ...]

RESULT = "<result>"
CALLER = "<caller>"
INSIDE = "~"
LENGTH_LIMIT = 6


def root_of(var: ir.Var) -> str:
    """The root that stands for a variable."""
    return "@" + var.name if var.scope in ("global", "function") else var.name


@lru_cache(maxsize=20_000)
def path_of(expr: ir.Expr) -> Path | None:
    """The path that denotes the expression's value, None if there is none within the limits."""
    path = _path(expr)
    return path if path is not None and len(path) <= LENGTH_LIMIT else None


def _path(expr: ir.Expr) -> Path | None:
    match expr:
        case ir.Cast(operand):
            return _path(operand)
        case ir.Var():
            return (root_of(expr),)
        case ir.Field(record, name):
            base = _path(record)
            return None if base is None else (*base, "." + name)
        case ir.Index(array, index):
            base, text = _path(array), _index(index)
            return None if base is None or text is None else (*base, f"[{text}]")
        case ir.Deref(pointer):
            return _pointee(pointer)
        case ir.AddressOf(lvalue):
            return _address(lvalue)
    return None


def _pointee(pointer: ir.Expr) -> Path | None:
    base, text = split_pointer(pointer)
    path = _path(base)
    if path is None or text is None:
        return None
    if path[-1] == "&":  # *(&x + i) is x where i is 0
        return _moved(path[:-1], text)
    return (*path, "*" if text == "0" else f"*[{text}]")


def _moved(path: Path, distance: str) -> Path | None:
    """The object at a distance from the one that the path names."""
    if distance == "0":
        return path
    return (*path[:-1], f"[{distance}]") if path[-1] == "[0]" else None


def _address(lvalue: ir.Expr) -> Path | None:
    if isinstance(lvalue, ir.Deref) and split_pointer(lvalue.pointer)[1] == "0":
        return _path(lvalue.pointer)
    path = _path(lvalue)
    return None if path is None else (*path, "&")


def split_pointer(pointer: ir.Expr) -> tuple[ir.Expr, str | None]:
    """A pointer as base and distance; the distance is "0", a constant, a variable's root, or None if it is anything else."""
    pointer = ir.strip_casts(pointer)
    if isinstance(pointer, ir.Binary) and pointer.operator in ("+", "-"):
        text = _index(pointer.right)
        if text is not None and pointer.operator == "-":
            text = f"-{text}" if text.isdigit() and text != "0" else ("0" if text == "0" else None)
        base, inner = split_pointer(pointer.left)
        return base, text if inner == "0" else None
    return pointer, "0"


def pointer_into(address: ir.Expr) -> ir.Expr | None:
    """The pointer in the object of which an address lies, as `p` for `&p->name[2]` and `p + 2`; None for the value of a pointer
    by itself, and for the address of a variable."""
    base, distance = split_pointer(address)
    if not isinstance(base, ir.AddressOf):
        return None if distance == "0" else base
    lvalue = base.lvalue
    while isinstance(lvalue, ir.Field | ir.Index):
        lvalue = lvalue.record if isinstance(lvalue, ir.Field) else lvalue.array
    return split_pointer(lvalue.pointer)[0] if isinstance(lvalue, ir.Deref) else None


def local_of(address: ir.Expr) -> ir.Var | None:
    """The variable that ends with the function of which it is the address, or the address of a part (C11 6.2.4p5); None if it is
    nothing of the kind."""
    base, _ = split_pointer(address)
    if not isinstance(address.type, Pointer) or not isinstance(base, ir.AddressOf):
        return None
    variable = ir.root(base.lvalue)
    return variable if isinstance(variable, ir.Var) and variable.scope in ("parameter", "local", "temporary") else None


def beside(value: ir.Expr) -> ir.Expr | None:
    """The pointer from which a pointer is a constant distance away, other than 0; None if it is nothing of the kind."""
    bare = ir.strip_casts(value)
    if not isinstance(bare, ir.Binary) or not isinstance(bare.type, Pointer):
        return None
    pointer, distance = split_pointer(bare)
    is_constant = distance is not None and distance != "0" and distance.removeprefix("-").isdigit()
    return pointer if is_constant else None


def _index(index: ir.Expr) -> str | None:
    index = ir.strip_casts(index)
    if isinstance(index, ir.IntConst):
        return str(index.value)
    return root_of(index) if isinstance(index, ir.Var) else None


def index_roots(path: Path) -> Iterator[str]:
    """The variables that the path uses as indices."""
    for operation in path[1:]:
        if operation.endswith("]"):
            text = operation.lstrip("*")[1:-1]
            if not text.lstrip("-").isdigit():
                yield text


def behind_pointer(path: Path) -> bool:
    """Whether reading the path follows a pointer."""
    return any(operation[0] == "*" for operation in path[1:])


@lru_cache(maxsize=20_000)
def lvalue_cell(expr: ir.Expr) -> str:
    """The cell that a write to the lvalue changes."""
    while True:
        match expr:
            case ir.Var():
                return root_of(expr)
            case ir.Cast(operand):
                expr = operand
            case ir.Index(array):
                expr = array
            case ir.Field(record, name):
                base = ir.root(record)
                if isinstance(base, ir.Deref):
                    return "." + name
                expr = base
            case ir.Deref(pointer, type_):
                base, _ = split_pointer(pointer)
                if isinstance(base, ir.AddressOf):
                    expr = base.lvalue
                else:
                    return "*" + spell(type_)
            case _:
                return "?"


def cells_read(expr: ir.Expr) -> Iterator[str]:
    """The cells that evaluating the expression reads."""
    for part in ir.walk(expr):
        if isinstance(part, ir.LVALUES) and not isinstance(part, ir.Index):
            yield lvalue_cell(part)


def path_cells(path: Path) -> Iterator[str]:
    """The cells by which writes elsewhere can change the path's value: member cells, and its root if that is a variable.

    Plain `*` steps are left to `kills`, which knows the written path.
    """
    if path == (path[0], "&"):
        return
    yield path[0]
    yield from index_roots(path)
    through = False
    for operation in path[1:]:
        if operation[0] == "*":
            through = True
            yield "*"
        elif operation[0] == "." and through:
            yield operation


def kills(written: Path | None, cell: str, path: Path) -> bool:
    """Whether a write may change the value that the path denotes.

    `written` is the path of the object written to, if it has one, and `cell` its cell. A write to an object on the way to
    the value certainly changes it. A write behind another pointer may, when both end in the same member; then the old
    value is given up, which loses findings but invents none.
    """
    if any(written == (index,) for index in index_roots(path)):
        return True
    if path[-1] == "&":
        path = _address_depends_on(path)
        if not path:
            return False
    if written is not None:
        if path[: len(written)] == written:
            return True
        if len(written) == 1:
            return False
        if written[0] == path[0] and not _may_meet(written, path):
            return False
    elif cell == path[0] and len(path) > 1 and path[1][0] in ".[":
        return True  # an element of the array that the path goes through, nobody knows which
    if cell[0] == ".":
        return cell in path[1:] and behind_pointer(path[: path.index(cell, 1) + 1])
    if cell[0] == "*":
        return behind_pointer(path) and path[-1][0] == "*" and written is not None and written[0] == path[0]
    return False


def _address_depends_on(path: Path) -> Path:
    """The path of the pointer from which an address is computed; empty for the address of (a part of) a variable."""
    path = path[:-1]
    while path[-1][0] in ".[" and len(path) > 1:
        path = path[:-1]
    return path[:-1]


def _may_meet(one: Path, other: Path) -> bool:
    """Whether two paths from one root can name the same object: not if they part at different members or constant indices."""
    for a, b in zip(one[1:], other[1:], strict=False):
        if a != b:
            if a[0] == "." and b[0] == ".":
                return False
            constant = [x.lstrip("*")[1:-1].lstrip("-").isdigit() for x in (a, b) if x.endswith("]")]
            return not (len(constant) == 2 and all(constant))
    return True


def apply_operations(base: Path | None, operations: Path) -> Path | None:
    """The path that leads on from a value by operations, the first of which follows the pointer."""
    if base is None or not operations:
        return base
    if base[-1] != "&":
        return (*base, *operations)
    return (*base[:-1], *operations[1:]) if operations[0] == "*" else None
