"""Functions that are called without a declaration: the built-in ones of compilers, and others, which return int (C89 6.3.2.2)."""

from __future__ import annotations

from analysis.c.built_in import PREFIX, Signature, is_of_compilers, signature_of
from analysis.c.control import NEVER_RETURN_ANYWHERE
from analysis.c.functions import all_with
from analysis.frontend.declarations.arithmetic_types import basic_type
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.declarations.types import same_representation
from analysis.frontend.lowering.atomics import Atomics
from analysis.frontend.lowering.refused import RefusedError
from analysis.model import ir
from analysis.model.c_types import INT, VA_LIST, Function, Pointer, Type

_CHECKED = {f"__{name}_chk": name for name in all_with(lambda function: "checked" in function.besides)}
_BUILT_IN = all_with(lambda function: "builtin" in function.besides)
"""Library functions that compilers have built in, with and without the prefix."""


class Undeclared(Atomics):
    """Declares functions where they are called first."""

    def declare_implicitly(self, name: str) -> None:
        """Declares a function that the program does not declare, for the rest of the function that calls it. Raises RefusedError
        for one that only compilers have and whose type is not known."""
        linkage, called = name, name
        base = name.removeprefix(PREFIX)
        if name.startswith(PREFIX):
            base = _CHECKED.get(base, base)
            called = PREFIX + base
            linkage = base if base in _BUILT_IN else name
        type_ = self._type_of(called)
        var = ir.Var(linkage, "function", type_)
        known = self.names.lookup(linkage) if linkage != name else None
        if isinstance(known, ObjectEntry) and known.var.scope == "function" and known.var.name == linkage:
            declared = known.var.type
            if not (isinstance(declared, Function) and same_representation(declared.result, type_.result)):
                raise RefusedError(f"{name} beside a declaration of {linkage} with another type")
        else:
            self.implicit[linkage] = var
        self.names.declare_outermost(name, ObjectEntry(var, noreturn=linkage in NEVER_RETURN_ANYWHERE))

    def _type_of(self, name: str) -> Function:
        signature = signature_of(name)
        if signature is not None:
            return self._function_type(signature)
        if is_of_compilers(name):
            raise RefusedError(f"the type of {name}")
        return Function(INT, (), prototyped=False)

    def _function_type(self, signature: Signature) -> Function:
        result = self._spelled_type(signature.result)
        if signature.parameters is None:
            return Function(result, (), prototyped=False)
        return Function(result, tuple(map(self._spelled_type, signature.parameters)), variadic=signature.variadic)

    def _spelled_type(self, words: str) -> Type:
        """The type that the tables of `analysis.c.built_in` spell so."""
        if words.endswith("*"):
            return Pointer(self._spelled_type(words[:-1].strip()))
        bare = words.removeprefix("const ")
        if bare == "va_list":
            return Pointer(VA_LIST.element)
        found = basic_type({"size_t": "unsigned long", "uint64": "uint64_t"}.get(bare, bare), self.model)
        if found is None:
            raise ValueError(f"{words} is no type")
        return found
