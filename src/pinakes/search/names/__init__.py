"""Names of documents: what they are called, and which of them a query or another text means by a name."""

from pinakes.search.names.forms import FUNCTION_WORDS, Names, name_tokens, names_of
from pinakes.search.names.index import Called, Named, NameIndex
from pinakes.search.names.series import FileLabel, file_label

__all__ = [
    "FUNCTION_WORDS",
    "Called",
    "FileLabel",
    "NameIndex",
    "Named",
    "Names",
    "file_label",
    "name_tokens",
    "names_of",
]
