"""Functions without a keyword: those of C and its kin, methods in a class body, and values that are functions.

``int main(void) {``, ``void Pump::start(int speed) const {``, ``load(id) {``, ``const load = async (id) => {``. What
comes before the brackets of a call looks the same; what comes after them, the brace of a body or an arrow, tells.
"""

from __future__ import annotations

import re

# `static struct node *node_new(`, `std::vector<int> Pump::speeds(`
_TYPED = re.compile(
    r"[ \t]*(?:template[ \t]{0,2}<[^;(){}]{0,80}>[ \t]*|\[\[[^\]]{0,40}\]\][ \t]*)?"
    r"(?P<type>(?:[A-Za-z_]\w*(?:::\w+){0,6}(?:<[^;(){}=]{0,80}>)?(?:\[\])?\??[ \t*&]+){1,6})"
    r"(?P<name>(?:[A-Za-z_]\w*::){0,4}~?[A-Za-z_]\w*)[ \t]?(?=\()"
)
# `Pump::Pump(`, which has no type.
_QUALIFIED = re.compile(r"[ \t]*(?P<name>(?:[A-Za-z_]\w*::){1,4}~?[A-Za-z_]\w*)[ \t]?(?=\()")
# `load(` in the body of a class.
_METHOD = re.compile(r"[ \t]+#?(?P<name>[A-Za-z_$][\w$]*)(?=\()")
# `node_new (` below its type, as GNU writes it.
_BELOW_TYPE = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]?(?=\()")
# `backup() {` of a shell.
_SHELL = re.compile(r"[ \t]*(?P<name>[A-Za-z_][\w-]*)[ \t]?\(\)[ \t]*\{")
_BRACKETS = r"\((?:[^(){};]|\([^(){};]{0,200}\)){0,400}\)"
# The brace of a body: in the same line, or in one of the next after what belongs to the head.
_BODY = re.compile(
    rf"{_BRACKETS}[^;{{}}=\n]{{0,200}}"
    r"(?:\n[ \t]*(?:(?:throws|where|noexcept|override|const|[:,])[^;{}=\n]{0,200})?){0,4}\{"
)
_BODY_BELOW = re.compile(rf"{_BRACKETS}[ \t\r]*\n\{{")
# `const load = async (id) =>`, `exports.load = function`, and as a property `load: (id) =>`.
_VALUE = re.compile(
    r"[ \t]*(?:(?:export|default|const|let|var|val|static|readonly|public|private|protected)[ \t]+){0,5}"
    r"(?:[A-Za-z_$][\w$]*\.){0,4}(?P<name>[A-Za-z_$][\w$]*)[ \t]*(?:(?::[^=\n]{1,80})?=(?!=)|:)[ \t]*(?:async[ \t]+)?"
    r"(?:function\b|[A-Za-z_$][\w$]*[ \t]*=>"
    r"|(?:<[^>\n]{1,60}>)?\((?:[^()]|\([^()]{0,200}\)){0,400}\)[^\n=;]{0,80}=>)"
)
_NOT_NAMES = frozenset(
    "for if while switch return else catch self this new func function fn def foreach unless until elif elsif when "
    "match with using lock synchronized sizeof typeof constructor import super await yield operator".split()
)
# What stands before a call, but not before the name of a function.
_STATEMENTS = frozenset(
    "return new else throw case goto delete yield await assert raise print echo puts import from with for foreach "
    "while if elif elsif unless until in is not and or match switch when guard go defer select insert into values "
    "where join do try using end then extends implements".split()
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def function_name(text: str, start: int, end: int, *, in_class: bool) -> str:
    """Return the name of the function that a line defines; "" when it defines none.

    >>> function_name("int main(void)\\n{", 0, 14, in_class=False)
    'main'
    """
    if text.find("(", start, end) < 0 and text.find("=>", start, end) < 0:
        return ""
    if (match := _TYPED.match(text, start, end)) and not _STATEMENTS.intersection(
        _WORD.findall(match["type"])
    ):
        return _checked(match["name"]) if _BODY.match(text, match.end()) else ""
    if match := _VALUE.match(text, start) or _SHELL.match(text, start):
        return _checked(match["name"])
    ways = [(_QUALIFIED, _BODY), (_BELOW_TYPE, _BODY_BELOW), *([(_METHOD, _BODY)] if in_class else [])]
    for head, rest in ways:
        if (match := head.match(text, start, end)) and rest.match(text, match.end()):
            # `TEST_CLASS(pump)` is a macro.
            return "" if match["name"].isupper() else _checked(match["name"])
    return ""


def _checked(name: str) -> str:
    return "" if name in _NOT_NAMES else name
