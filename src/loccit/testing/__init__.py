"""What stores and converters must do, as tests to subclass in a package of your own.

    from loccit.testing import Place, StoreConformance

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def place(self) -> Place: ...

``StoreConformance`` tests a store, ``LibraryConformance`` a library in it, both at the ``Place`` that the fixture
``place`` returns; ``ConverterConformance`` tests a converter on a sample of its format. Loccit' own stores and
converters pass the same tests. They run under pytest, which the extra ``testing`` installs.
"""

from __future__ import annotations

from loccit.errors import MissingExtraError

try:
    import pytest
except ModuleNotFoundError as _error:
    raise MissingExtraError("loccit.testing", "testing") from _error

# Before they are imported, so that an assertion that fails says what the values were.
pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in ("converters", "libraries", "stores")))

from loccit.testing.converters import ConverterConformance  # noqa: E402
from loccit.testing.libraries import LibraryConformance  # noqa: E402
from loccit.testing.places import Place  # noqa: E402
from loccit.testing.stores import StoreConformance  # noqa: E402

__all__ = ["ConverterConformance", "LibraryConformance", "Place", "StoreConformance"]
