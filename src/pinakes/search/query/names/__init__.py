"""Names of documents: which of them a query or another text means by a name, as ``labels.names`` reads names."""

from pinakes.labels.names import FUNCTION_WORDS, name_tokens
from pinakes.search.query.names.index import Called, Named, NameIndex

__all__ = ["FUNCTION_WORDS", "Called", "NameIndex", "Named", "name_tokens"]
