"""Programming languages: one canonical name for each, from fences, file names and aliases."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

MAX_SOURCE_BYTES = 1 << 20
"""Larger source files are mostly generated, or data."""

_LANGUAGES = {
    "python": "py py3 python3 pyw pyi ipython pycon",
    "javascript": "js mjs cjs jsx node nodejs",
    "typescript": "ts tsx mts cts",
    "shell": "sh bash zsh ksh fish console shell-session sh-session terminal",
    "powershell": "ps1 pwsh posh psm1",
    "batch": "bat cmd dosbatch",
    "c": "h",
    "cpp": "c++ cc cxx hpp hh hxx",
    "csharp": "cs c#",
    "fsharp": "fs f# fsx",
    "go": "golang",
    "rust": "rs",
    "java": "",
    "kotlin": "kt kts",
    "swift": "",
    "scala": "sc",
    "ruby": "rb",
    "php": "php3 phtml",
    "perl": "pl pm",
    "lua": "",
    "r": "rscript",
    "julia": "jl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "clojure": "clj cljs",
    "lisp": "el scm scheme",
    "dart": "",
    "zig": "",
    "nim": "",
    "groovy": "gradle",
    "objective-c": "objc m mm",
    "sql": "psql mysql postgresql plsql tsql",
    "graphql": "gql",
    "protobuf": "proto",
    "html": "htm xhtml",
    "xml": "xsd xsl svg plist",
    "css": "scss sass less",
    "json": "json5 jsonc jsonl",
    "yaml": "yml",
    "toml": "",
    "ini": "cfg conf properties dotenv",
    "dockerfile": "docker containerfile",
    "makefile": "make mk",
    "cmake": "",
    "terraform": "tf hcl",
    "nix": "",
    "vue": "",
    "svelte": "",
    "assembly": "asm nasm s",
    "diff": "patch udiff",
    "latex": "tex",
    "mermaid": "",
}
_NAMES = {other: name for name, others in _LANGUAGES.items() for other in (name, *others.split())}
# Extensions of documents or data, which have converters of their own.
_DOCUMENTS = frozenset({"html", "xml", "json", "yaml", "latex", "mermaid"})
_SOURCE_SUFFIXES = {
    f".{other}": name for other, name in _NAMES.items() if name not in _DOCUMENTS and other.isalnum()
}
_NOT_CODE = frozenset(("none", "text", "txt", "plain", "plaintext", "output", "nohighlight", "no-highlight"))
_INFO = re.compile(r"\{?\s*\.?(?:language-|lang-)?([^\s,;:{}]+)")


def code_language(name: str) -> str:
    """The canonical name of a language, whatever a fence calls it: ``py``, ``{.python .numberLines}`` > ``python``."""
    found = _INFO.match(name.strip().lower())
    return _NAMES.get(found[1], found[1]) if found and found[1] not in _NOT_CODE else ""


def is_code_language(name: str) -> bool:
    """Whether this is a name of a programming language, or an alias for one."""
    return name.strip().lower() in _NAMES


@lru_cache(maxsize=4096)
def language_of_file(path: str) -> str:
    """The language of a source file by its name; "" for documents and everything else."""
    name = PurePath(path).name.lower()
    if name in ("dockerfile", "makefile", "containerfile"):
        return code_language(name)
    return _SOURCE_SUFFIXES.get(PurePath(name).suffix, "")
