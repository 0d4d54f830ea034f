"""As much of C++'s lexing as the rules need: code without comments and without the insides of literals."""

import re

_TOKEN = re.compile(
    r"""
      //[^\n]*                                        # comment to the end of the line
    | /\*.*?\*/                                       # comment in between
    | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"    # raw string
    | "(?:\\.|[^"\\\n])*"                             # string
    | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'             # character, not the mark between digits
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def _blank(match):
    """A token's stand-in of as many lines: nothing for a comment, an empty string for a literal."""
    text = match.group(0)
    lines = "\n" * text.count("\n")
    return lines if text.startswith("/") else '""' + lines


def code_lines(text):
    """(number, line) of the code alone. Names in quotes after #include are lost; see includes()."""
    return list(enumerate(_TOKEN.sub(_blank, text).split("\n"), 1))


def includes(text):
    """(line, name) of each #include "name" that is not inside a comment."""
    def keep_strings(match):
        return _blank(match) if match.group(0).startswith("/") else match.group(0)

    bare = _TOKEN.sub(keep_strings, text)
    return [(bare.count("\n", 0, match.start()) + 1, match.group(1)) for match in _INCLUDE.finditer(bare)]
