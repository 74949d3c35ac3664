# SPDX-License-Identifier: Apache-2.0
"""Names of types with 2D outside the folders of two dimensions; openings and sentences of `///` comments."""

import re

from .cpp import doc_blocks, without_comments_and_strings
from .ratchet import Allowed, Finding
from .tree import CPP

# Types of the project are PascalCase; MARE2DEM and MT2D are programs, Vector2d and its like belong to Eigen.
TYPE_2D = re.compile(r"\b(?!(?:Row)?(?:Vector|Matrix|Array)2d\b)[A-Z][a-z]\w*?2[Dd]\w*")
FOLDERS_2D = {
    "d2",
    "fem",
    "modem",
    "mt2d",
    "mare2dem",
}  # wherever they stand, so that their tests are included
BAD_OPENING = re.compile(r"(?:(?:of|the same|as above|what|where|whether|how|with)\b|errors:)", re.IGNORECASE)
MAX_WORDS = 25

ALLOWED_2D = Allowed(
    "allowed_names_2d.txt",
    """How many types with 2D in their names each file names, outside the folders of two dimensions.
number  file""",
    counts=True,
)
ALLOWED_OPENINGS = Allowed(
    "allowed_doc_openings.txt",
    """How many /// of each file open with Of, The same, As above, What, Where, Whether, How, With or errors:
number  file""",
    counts=True,
)
ALLOWED_SENTENCES = Allowed(
    "allowed_doc_sentences.txt",
    f"""How many sentences in the /// of each file have more than {MAX_WORDS} words.
number  file""",
    counts=True,
)


def types_2d(text):
    """Returns {name: line of its first use}."""
    found = {}
    if TYPE_2D.search(text):
        code = without_comments_and_strings(text)
        for match in TYPE_2D.finditer(code):
            found.setdefault(match[0], code.count("\n", 0, match.start()) + 1)
    return found


def check_names_2d(tree):
    for name in tree.with_ending(*CPP):
        if FOLDERS_2D.isdisjoint(name.split("/")[:-1]):
            for word, line in types_2d(tree.text(name)).items():
                yield Finding(
                    (name,),
                    f"{name}:{line}",
                    f"{word} is a name of two dimensions; only the folders {', '.join(sorted(FOLDERS_2D))}"
                    " use such names",
                )


def bad_openings(text):
    for line, comment in doc_blocks(text):
        match = BAD_OPENING.match(comment)
        if match:
            yield line, match[0]


def check_doc_openings(tree):
    for name in tree.with_ending(*CPP):
        for line, opening in bad_openings(tree.text(name)):
            yield Finding(
                (name,),
                f"{name}:{line}",
                f"a /// opens with '{opening}'; begin with a verb in the third person or a noun",
            )


def sentences(text):
    """Yields (line of its comment, number of words) of each sentence of the `///` comments."""
    for line, comment in doc_blocks(text):
        code_as_words = re.sub(r"`[^`\n]*`", "code", comment)
        for sentence in re.split(r"[.:;?!]\s|\n", code_as_words):
            yield line, len(sentence.split())


def check_doc_sentences(tree):
    for name in tree.with_ending(*CPP):
        for line, n_words in sentences(tree.text(name)):
            if n_words > MAX_WORDS:
                yield Finding(
                    (name,),
                    f"{name}:{line}",
                    f"a sentence of the /// has {n_words} words, more than {MAX_WORDS}; split it",
                )
