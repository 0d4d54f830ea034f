"""Dead ends in documents: links and paths that lead nowhere."""

import re

_FENCE = re.compile(r"^(```|~~~)")
_LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"^\.?[A-Za-z0-9_.{},*/+-]+$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def _prose(text):
    """(number, line) of the lines outside fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line.lstrip()):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _anchors(text):
    """The fragments that the headings of a page can be reached by, as the usual renderers make them."""
    found = set()
    for _, line in _prose(text):
        match = _HEADING.match(line)
        if match:
            words = re.sub(r"[^\w\- ]", "", match.group(1).lower())
            found.add(words.replace(" ", "-"))
    return found


def _alternatives(path):
    """a/{b,c}.h as a/b.h and a/c.h."""
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    return [end for part in match.group(1).split(",")
            for end in _alternatives(path[:match.start()] + part + path[match.end():])]


def _exists(tree, path):
    path = path.removeprefix("./").rstrip("/")
    if "*" in path:
        return any(True for _ in tree.root.glob(path))
    return (tree.root / path).exists()


def _names_a_path(tree, span):
    """Whether a code span is meant as a path of this tree: its first part is a folder at the top."""
    if not _PATH.match(span) or "/" not in span or "..." in span:
        return False
    first = span.removeprefix("./").split("/")[0]
    return first != "build" and bool(first) and (tree.root / first).is_dir()


def _check_link(tree, file, target):
    if re.match(r"^[a-z][a-z0-9+.-]*:", target):
        return None
    path, _, fragment = target.partition("#")
    page = (tree.root / file.parent / path).resolve() if path else tree.root / file
    if not page.is_relative_to(tree.root) or not page.exists():
        return f"link to {target}: there is no such file"
    if fragment and page.suffix == ".md" and fragment not in _anchors(page.read_text(encoding="utf-8")):
        return f"link to {target}: no heading gives that anchor"
    return None


def check(tree, exceptions):
    for file in tree.files:
        if file.suffix != ".md" or str(file) in exceptions:
            continue
        for number, line in _prose(tree.text(file)):
            for target in _LINK.findall(line):
                problem = _check_link(tree, file, target)
                if problem:
                    yield f"{file}:{number}: {problem}"
            for span in _SPAN.findall(line):
                if not _names_a_path(tree, span):
                    continue
                for path in _alternatives(span):
                    if not _exists(tree, path):
                        yield f"{file}:{number}: `{path}`: there is no such path"
