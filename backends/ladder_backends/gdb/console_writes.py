"""Which lines of a command line may have changed the target without any notice of it."""

from __future__ import annotations

import re

_WORD = re.compile(r"\s*(?P<word>[a-z-]*)(?P<rest>.*)", re.DOTALL)
_CHANGES = re.compile(r"(?<![=!<>])=(?!=)|[-+*/%&|^<>]=|<<=|>>=|\+\+|--|\(")
_ONLY_TELL = re.compile(
    "apropos|awatch|b|backtrace|br|break|bt|catch|commands|complete|condition|d|del|delete|dir|directory|disable"
    "|disas|disassemble|display|dprintf|echo|enable|end|hbreak|help|i|ignore|inf|info|l|list|rbreak|rwatch|save"
    "|search|shell|show|tbreak|thbreak|tty|undisplay|watch|whatis|where|x"
)
_EVALUATE = re.compile(
    "call|f|faas|frame|if|inspect|output|p|print|printf|ptype|set|t|taas|tfaas|thread|while|with"
)


def may_write(line: str) -> bool:
    """Whether registers or memory may be others afterwards.

    Engines tell of memory that an assignment changes, but of no register, and of nothing that a function did which
    an expression called. A command of the user's own may do anything.
    """
    match = _WORD.match(line)
    word, rest = (match["word"], match["rest"]) if match is not None else ("", "")
    if not word and not rest.strip():
        # The last command again.
        return True
    if not word or _ONLY_TELL.fullmatch(word):
        return False
    return _EVALUATE.fullmatch(word) is None or _CHANGES.search(rest) is not None
