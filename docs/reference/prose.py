"""Words of a sentence that are names of types too, such as Memory or Size: Doxygen would make links of them. A name that is
meant stands in backquotes, or has a second capital."""

import re

TYPE = re.compile(r"(?m)^ *(?:template <[^;{]*> *\n? *)?(?:struct|class|concept|enum class) (?:PENSTOCK_API )?(\w+)")
WORD = re.compile(r"[A-Z][a-z0-9]+")
ALSO = {"WebDataset"}  # the project, and its options
MEANT = {"Context", "Error", "Rng"}  # sentences say these of the types only
COMMENT = re.compile(r"^(.*?///<? ?)(.*)$")
KEPT = re.compile(r"`[^`]*`|\]\([^)]*\)|\[[^\]]*\](?=\()|<[^>]*>|[@\\]\w+ \w+")


def words_in(tree):
    """The words of the headers below TREE."""
    names = set()
    for header in (tree / "include" / "penstock").rglob("*.hpp"):
        names |= set(TYPE.findall(header.read_text()))
    return sorted(name for name in names if (WORD.fullmatch(name) or name in ALSO) and name not in MEANT)


def plain(words, text):
    """TEXT, which is a paragraph, in which WORDS are no links: Doxygen takes the % away."""
    # What is written as in a program is meant: Filter::linear, Error(unsupported).
    pattern = re.compile(rf"(?<![\w:%/.~-])(?:{'|'.join(words)})(?![\w({{<]|::|\.\w|-\w)")
    out, at = [], 0
    for kept in KEPT.finditer(text):
        out += [pattern.sub(r"%\g<0>", text[at:kept.start()]), kept[0]]
        at = kept.end()
    return "".join(out) + pattern.sub(r"%\g<0>", text[at:])


def plain_page(words, text):
    """A page without links of that kind; its headings and what is indented as code stay."""
    paragraphs = re.split(r"(\n{2,}|(?m:^#.*$))", text)
    return "".join(part if part.startswith(("#", "    ")) else plain(words, part) for part in paragraphs)


def plain_comments(words, lines):
    """Lines of a header; a comment's backquotes may stand on two of them."""
    out, held = list(lines), []

    def flush():
        if held:
            texts = plain(words, "\n".join(text for _, _, text in held)).split("\n")
            for (at, lead, _), text in zip(held, texts):
                out[at] = lead + text
            held.clear()

    for at, line in enumerate(lines):
        found = COMMENT.match(line)
        if not found or found[2].startswith("    ") or (held and found[1].strip() not in ("///", "///<")):
            flush()
        if found and not found[2].startswith("    "):
            held.append((at, found[1], found[2]))
    flush()
    return out
