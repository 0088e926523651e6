"""The report as a test report in XML, in the form of JUnit that CI servers read.

A file is a test suite. A function is a test case that passes only if it is safe for every rule that something in it could
violate: what is not known is skipped, with the reason, so that it never looks like a proof (invariant I15). A finding that is
shown is a failure; its test case is named by function and rule. Errors about the input are errors of a suite of their own.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from analysis.cli.text_format import count, finding_lines
from analysis.model.report import Finding, FunctionReport, Message, Report

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2
_COUNTED = ("failure", "error", "skipped")


def junit_report(report: Report) -> str:
    """The whole report as one XML document."""
    root = Element("testsuites", name="everproof")
    suites: dict[str, Element] = {}
    for (path, name, rule), findings in _by_rule(report).items():
        case = _case(root, suites, path, f"{name} [{rule}]")
        message = findings[0].said + (f" (and {len(findings) - 1} more)" if len(findings) > 1 else "")
        failure = SubElement(case, "failure", type=_text(rule), message=_text(message))
        failure.text = _text("\n".join(line for finding in findings for line in finding_lines(finding)))
    failing = {(finding.function, finding.place.path) for finding in report.shown}
    for function in report.functions:
        if (function.name, function.place.path) not in failing:
            _judge(_case(root, suites, function.place.path, function.name), function, report)
    for said in report.messages:
        if said.severity == "error":
            _complain(_case(root, suites, "input", said.path or "everproof"), said)
    for suite in (*suites.values(), root):
        _count(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _by_rule(report: Report) -> dict[tuple[str, str, str], list[Finding]]:
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in report.shown:
        found.setdefault((finding.place.path, finding.function, finding.rule), []).append(finding)
    return found


def _case(root: Element, suites: dict[str, Element], suite: str, name: str) -> Element:
    if suite not in suites:
        suites[suite] = SubElement(root, "testsuite", name=_text(suite))
    return SubElement(suites[suite], "testcase", classname=_text(suite), name=_text(name))


def _judge(case: Element, function: FunctionReport, report: Report) -> None:
    """A test case passes where the function is proved; else it is skipped, and says why."""
    held = sum(1 for finding in report.findings if (finding.function, finding.place.path) == (function.name, function.place.path))
    counting = {rule: verdict for rule, verdict in function.verdicts.items() if not verdict.no_place}
    open_ = [f"{rule}: {verdict.reason}" for rule, verdict in counting.items() if verdict.verdict != "safe"]
    if held:
        SubElement(case, "skipped", message=f"{count(held, 'finding')} held back: --show all shows what is not likely")
    elif function.stale or open_ or not function.verdicts:
        SubElement(case, "skipped", message=_text("not known: " + ("; ".join(open_) or "nothing was checked")))


def _complain(case: Element, message: Message) -> None:
    where = f"line {message.line}: " if message.line else ""
    SubElement(case, "error", message=_text(where + message.text))


def _count(suite: Element) -> None:
    suite.set("tests", str(sum(1 for _ in suite.iter("testcase"))))
    for kind in _COUNTED:
        suite.set({"failure": "failures", "error": "errors"}.get(kind, kind), str(sum(1 for _ in suite.iter(kind))))


def _text(text: str) -> str:
    """The text without what XML cannot hold: control characters, and halves of surrogate pairs, of names that are no text."""
    return _NO_XML.sub("\ufffd", text)
