"""Moving: the library of an index folder gets another home, without anything being embedded again.

The record on this machine has everything, vectors included, so a move is a copy from here. The folder belongs to the
old home until the new one was checked; then one file that names the home is replaced. Whatever interrupts a move
leaves the folder as it was, and the next attempt copies what is still missing.

What the record remembers of its database (table ``stored``) holds for both homes at that moment: the old one was
followed and published to first, and the new one has the same versions of the same documents. Documents that wait for
vectors are the exception, of which the old home may have an older version: its rows are therefore replaced only after
the change. Should that not come to pass, rows without a document in the new home are forgotten when it is followed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping

from pinakes.errors import IndexReadOnlyError, StoreError, UsageError
from pinakes.model import MoveReport
from pinakes.stores.copying import KeptDocument, copy_library, kept_documents
from pinakes.stores.embedded.index import VECTORS, EmbeddedIndex
from pinakes.stores.home import complete, connected, located, name_of, own_settings, write_home
from pinakes.stores.settings import EMBEDDED, DatabaseSettings
from pinakes.stores.shared.index import StoredIndex
from pinakes.stores.shared.replica import STORED_GENERATION, STORED_MARK, STORED_STAMP, Step


def move(
    old: EmbeddedIndex,
    database: DatabaseSettings,
    *,
    replace_other: bool = False,
    drop_old: bool = False,
    step: Step = lambda done, total: None,
) -> tuple[EmbeddedIndex, MoveReport]:
    """Give the index another home; return it as it is opened there. The caller holds the writer lock."""
    started = time.perf_counter()
    target = complete(old.folder, located(database), DatabaseSettings())
    _check_wish(old, target)
    new = _opened(old, target)
    try:
        # What others published, and what was never published, is part of the library.
        old.catch_up()
        documents = kept_documents(new)
        report = MoveReport(_describe(old), _describe(new), len(documents))
        if isinstance(new, StoredIndex):
            report.copied, report.passages = copy_library(
                old, new, documents, replace_other=replace_other, step=step
            )
        else:
            _copy_to_folder(new, report)
        _change_home(old, new, located(database), documents)
    except BaseException:
        new.close()
        raise
    if drop_old:
        _drop(old, report)
    report.seconds = time.perf_counter() - started
    return new, report


def _check_wish(old: EmbeddedIndex, target: DatabaseSettings) -> None:
    if target.provider == "in-memory":
        raise UsageError(
            "A library cannot be moved to in-memory: nothing would be left of it when this ends."
        )
    if old.read_only:
        raise IndexReadOnlyError(
            f"The index at {old.folder} cannot be moved: the folder cannot be written to."
        )
    here = own_settings(old)
    places = [
        (settings.provider, settings.collection, settings.with_environment().connection_string)
        if settings.provider != EMBEDDED
        else (EMBEDDED, "", "")
        for settings in (here, target)
    ]
    if places[0] == places[1]:
        where = "in its folder" if here.provider == EMBEDDED else f"in {name_of(here)}"
        raise UsageError(f"The library at {old.folder} is {where} already.")


def _opened(old: EmbeddedIndex, target: DatabaseSettings) -> EmbeddedIndex:
    if target.provider == EMBEDDED:
        return EmbeddedIndex(old.folder, create=False)
    return connected(old.folder, create=False, settings=target)


def _describe(index: EmbeddedIndex) -> str:
    return index.store.describe() if isinstance(index, StoredIndex) else EMBEDDED


# -- to the folder ---------------------------------------------------------------------------------------------


def _copy_to_folder(new: EmbeddedIndex, report: MoveReport) -> None:
    """Build the vector matrix anew; all else is in the folder already."""
    new.discard_derived(VECTORS)
    new.catch_up_vectors()
    expected, found = new.record.embedded_passages(), new.matrix.snapshot.live
    if expected != found:
        raise StoreError(
            f"The copy in {new.folder} is not whole: {found:,} passages where there should be {expected:,}."
        )
    report.copied, report.passages = report.documents, found


# -- the change itself -----------------------------------------------------------------------------------------


def _change_home(
    old: EmbeddedIndex, new: EmbeddedIndex, home: DatabaseSettings, documents: Mapping[str, KeptDocument]
) -> None:
    # Whichever it belongs to from here on is looked at in full once more.
    new.record.set_meta({STORED_STAMP: ""})
    if isinstance(new, StoredIndex) and not isinstance(old, StoredIndex):
        # A folder alone does not look at this; the database will at once.
        _remember_stored(new, documents)
        write_home(new.folder, home)
        return
    write_home(new.folder, home)
    _remember_stored(new, documents if isinstance(new, StoredIndex) else {})


def _remember_stored(new: EmbeddedIndex, documents: Mapping[str, KeptDocument]) -> None:
    """Put down what the new home has in place of what the old one had."""
    rows = [(key, item.version, item.id, item.path) for key, item in documents.items()]
    meta = {STORED_GENERATION: str(new.record.generation()), STORED_MARK: uuid.uuid4().hex}
    with new.database.transaction() as connection:
        connection.execute("DELETE FROM stored")
        connection.executemany("INSERT INTO stored VALUES (?, ?, ?, ?)", rows)
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())


def _drop(old: EmbeddedIndex, report: MoveReport) -> None:
    """Delete what the old home has. The library is safe in the new one: a failure is said, and no more."""
    try:
        if isinstance(old, StoredIndex):
            old.store.drop()
        else:
            old.discard_derived(VECTORS)
        report.dropped = True
    except StoreError as error:
        report.warnings.append(f"The library was moved, but the old copy is still there: {error}")
