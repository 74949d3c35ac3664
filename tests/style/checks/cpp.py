# SPDX-License-Identifier: Apache-2.0
"""What the rules read from C++ text. A full parser is not needed: the sources are formatted."""

import re

BLANKED = re.compile(
    r'(?P<raw>R"([^\s()\\]{0,16})\((?:.|\n)*?\)\2")|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
FUNCTION_END = re.compile(r"\)\s*(const|noexcept|override|final|->[^{]*|\s)*$")


def includes(text):
    """Yields (line number, is quoted, path) of each include line."""
    for match in re.finditer(r'(?m)^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">]', text):
        yield text.count("\n", 0, match.start()) + 1, match[1] == '"', match[2]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_comments_and_strings(text):
    """Returns the same text with the same lines, where comments, strings and characters are blank."""
    return BLANKED.sub(blank, text)


def without_directives(code):
    return re.sub(r"(?m)^\s*#(?:[^\n]*\\\n)*[^\n]*", blank, code)


def lines_of_raw_strings(text):
    """Returns the numbers of the lines that a raw string literal touches."""
    found = set()
    for match in BLANKED.finditer(text):
        if match["raw"]:
            first = text.count("\n", 0, match.start()) + 1
            found.update(range(first, first + match[0].count("\n") + 1))
    return found


def functions(text):
    """Yields (name, first line, last line) of each function body at namespace or class level."""
    code = without_directives(without_comments_and_strings(text))
    stack, head_start, line = [], 0, 1
    n_blocks = 0  # those of the stack that are no scopes
    for match in re.finditer(r"[\n{};]", code):
        position, letter = match.start(), match[0]
        if letter == "\n":
            line += 1
        elif letter == "{":
            head = code[head_start:position]
            if n_blocks == 0 and SCOPE.search(head) and not FUNCTION_END.search(head):
                stack.append(("scope", "", line))
            elif n_blocks == 0 and ")" in head:
                found = re.search(r"([\w:~]+)\s*\(", head)
                stack.append(("function", found[1] if found else "?", line - head.strip().count("\n")))
                n_blocks += 1
            else:
                stack.append(("block", "", line))
                n_blocks += 1
            head_start = position + 1
        elif letter == "}":
            if stack:
                kind, function, first = stack.pop()
                n_blocks -= kind != "scope"
                if kind == "function":
                    yield function, first, line
            head_start = position + 1
        elif n_blocks == 0:
            head_start = position + 1


def has_single_function(text):
    """Says whether a header declares or defines one function and nothing else."""
    code = without_directives(without_comments_and_strings(text))
    while (
        True
    ):  # Inner blocks go first; a namespace is opened, any other block becomes the end of its statement.
        inner = re.search(r"\b(?:inline\s+)?namespace[\w:\s]*\{([^{}]*)\}", code)
        block = re.search(r"\{[^{}]*\}", code)
        if inner and (not block or inner.end() == block.end()):
            code = code[: inner.start()] + inner[1] + code[inner.end() :]
        elif block:
            code = code[: block.start()] + "@;" + code[block.end() :]
        else:
            break
    statements = [part.strip() for part in code.split(";") if part.strip(" \n\t@")]
    return (
        len(statements) == 1
        and "(" in statements[0]
        and not re.match(r"(using|typedef|struct|class|enum)\b", statements[0])
    )


def doc_text(notes):
    parts = ["" if note.startswith("    ") else note.strip() for note in notes]
    return re.sub(r"\s*\n\s*", "\n", " ".join(part or "\n" for part in parts)).strip()


def doc_blocks(text):
    """Yields (line number, text) of each `///` block: lines that follow each other, or a note behind code.

    A line break ends each paragraph; lines indented as code are left out."""
    block, first, behind_code = [], 0, False
    for number, line in enumerate(text.splitlines(), 1):
        before, mark, note = line.partition("///")
        is_doc = bool(mark) and not note.startswith("/") and before.count('"') % 2 == 0 and "//" not in before
        own_line = is_doc and not before.strip()
        goes_on = own_line and block and (not behind_code or note.startswith("<"))
        if block and not goes_on:
            yield first, doc_text(block)
            block = []
        if is_doc:
            if not block:
                first, behind_code = number, not own_line
            block.append(note.lstrip("<"))
    if block:
        yield first, doc_text(block)
