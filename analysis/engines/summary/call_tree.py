"""The calls of a program, unrolled into a tree ([UPPROVER] section 2.1): one node for each call, by the calls that lead to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.engines.summary.body_partitions import Instance, Partition, Slot, without_body
from analysis.model.spelling import display_name
from analysis.smt.transitions.vocabulary import TooLargeError

MOST_NODES = 3_000


class Node:
    """One call, which `slot` of its `parent` makes. `key` identifies it over revisions: the slots on the way to it. `is_cut`: the
    bound on recursion does not let its body be followed."""

    def __init__(self, number: int, slot: Slot, partition: Partition, parent: Node | None, is_cut: bool) -> None:
        self.number = number
        self.slot = slot
        self.key: str = slot.key if parent is None else f"{parent.key}/{slot.key}"
        self.partition = partition
        self.parent = parent
        self.is_cut = is_cut
        self.children: dict[str, Node] = {}
        self._instance: Instance | None = None

    @property
    def function(self) -> str:
        """The called function."""
        return self.partition.function

    @property
    def instance(self) -> Instance:
        """The formulas about this call in a formula of many."""
        if self._instance is None:
            self._instance = Instance(self.number, {key: child.number for key, child in self.children.items()})
        return self._instance

    def above(self) -> Iterator[Node]:
        """The calls that lead to this one, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def subtree(self) -> Iterator[Node]:
        """The call and all below it, each before those that it makes."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children.values()))

    def __repr__(self) -> str:
        return f"Node({self.key})"


class CallTree:
    """The calls of one program. `nodes` has each before those that it makes. A function is active at most `bound` times at once.
    TooLargeError if there are too many calls."""

    def __init__(self, partitions: Mapping[str, Partition], entry: str, bound: int) -> None:
        self.nodes: list[Node] = []
        self.bound = bound
        self._partitions = partitions
        self.root = self._made(Slot(entry, entry), None)
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            for slot in node.partition.slots:
                child = self._made(slot, node)
                node.children[slot.key] = child
                waiting.append(child)

    def _made(self, slot: Slot, parent: Node | None) -> Node:
        function = slot.callee
        if len(self.nodes) >= MOST_NODES:
            raise TooLargeError(
                f"at this bound, the program makes more than {MOST_NODES} calls, many of {display_name(function)}()"
            )
        partition = self._partitions[function]
        around = () if parent is None else (parent, *parent.above())
        is_cut = sum(node.function == function for node in around) >= self.bound
        made = Node(len(self.nodes), slot, without_body(partition) if is_cut else partition, parent, is_cut)
        self.nodes.append(made)
        return made

    @property
    def cuts_nothing(self) -> bool:
        """Whether the bound leaves out nothing, by the form of the program alone."""
        return not any(node.partition.loops_are_cut for node in self.nodes)
