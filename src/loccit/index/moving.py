"""Moving: gives the library of an index folder another home, without embedding anything again.

Only what is missing there is copied, so that an interrupted copy continues. Data of other libraries is not touched,
unless requested.

The record on this machine has everything, including vectors, so a move is a copy from here. The folder belongs to the
old home until the new one has been checked; then the one file that names the home is replaced. Whatever interrupts a
move leaves the folder as it was, and the next attempt copies what is still missing.

What the record remembers about its database (table ``stored``) is valid for both homes at that moment: the old one was
followed and published to first, and the new one has the same versions of the same documents. The exception are
documents that wait for vectors, of which the old home may have an older version: its rows are therefore replaced only
after the change. If that does not happen, rows without a document in the new home are dropped when it is followed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from loccit.errors import IndexReadOnlyError, StoreAccessError, StoreError, StoreSchemaError, UsageError
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.local import LocalIndex
from loccit.index.folder.seals import insert
from loccit.index.home import complete, connected, located, name_of, own_settings, write_home
from loccit.index.retry import patient
from loccit.index.settings import EMBEDDED, DatabaseSettings
from loccit.index.shared.catalogue import About
from loccit.index.shared.ids import content_of, document_key
from loccit.index.shared.index import StoredIndex
from loccit.index.shared.points import document_version, publications
from loccit.index.shared.replica import STORED_GENERATION, STORED_STAMP, Step
from loccit.index.store import Entry
from loccit.model import MoveReport

# Left in a database while a library is being copied to it: whose copy it is, for the next attempt to go on with.
_UNFINISHED = "meta-moving"
# Put for a moment into the old database: if it shows up in the new one, they are the same.
_PROBE = "meta-probe"
# How long a database that shows writes late may take until the copy can be checked.
_SETTLE_SECONDS = 120.0


class KeptDocument(NamedTuple):
    """A document of the record that belongs in the new home."""

    id: int
    path: str
    content: str


def copy_library(
    old: LocalIndex,
    new: StoredIndex,
    wanted: Mapping[str, KeptDocument],
    *,
    replace_other: bool,
    step: Step,
) -> tuple[int, int]:
    """Make a database hold exactly the documents of the record; return how many were copied, and the passages."""
    if isinstance(old, StoredIndex):
        _check_different(old, new)
    catalogue = new.replica.catalogue
    model, dimension = new.model
    _clear_the_way(new, wanted, replace_other=replace_other)
    if not model:
        return 0, 0
    catalogue.open(About(model, dimension, new.record.meta("settings")))
    new.store.put([Entry(_UNFINISHED, "meta", "", new.record.meta("replica"))])
    # It has answered; from here on it is waited for as its own settings say, not those of the old home.
    with patient(new.store.settings.patience, answered=True):
        copied = _copy(new, wanted, step)
        passages = _check(new, wanted)
        new.store.remove([_UNFINISHED])
    return copied, passages


def _check_different(old: StoredIndex, new: StoredIndex) -> None:
    """Refuse two addresses of the same collection: the copy would be dropped with the old one."""
    if old.store.provider != new.store.provider or new.store.dimension() is None:
        return
    value = uuid.uuid4().hex
    # Who may only read the old one cannot be on the way to the same place.
    with suppress(StoreAccessError):
        old.store.put([Entry(_PROBE, "meta", "", value)])
        try:
            same = new.store.get([_PROBE]).get(_PROBE) == value
        finally:
            old.store.remove([_PROBE])
        if same:
            raise UsageError(
                f"The library is in {name_of(new.store.settings)} already: both addresses lead to the same place."
            )


def kept_documents(index: LocalIndex) -> dict[str, KeptDocument]:
    """Return the documents that have all their vectors, by key."""
    record = index.record
    rows = record.database.rows("SELECT id, source_path FROM documents ORDER BY id")
    return {
        document_key(path): KeptDocument(document, path, document_version(record, document))
        for document, path in rows
        if record.is_embedded(document)
    }


def _clear_the_way(new: StoredIndex, wanted: Mapping[str, KeptDocument], *, replace_other: bool) -> None:
    """Make sure that the collection is empty or holds this library; empty it if requested."""
    try:
        problem = _foreign(new, wanted)
    except StoreSchemaError:
        if not replace_other:
            raise
        problem = "something else"
    if problem and not replace_other:
        raise UsageError(
            f"There is {problem} in {name_of(new.store.settings)} already, which is not the one at {new.folder}. "
            "Choose another collection, or put this one in its place with --replace."
        )
    if problem:
        new.store.drop()


def _foreign(new: StoredIndex, wanted: Mapping[str, KeptDocument]) -> str:
    """Describe the content of a collection that is neither this library nor an unfinished copy of it; else ""."""
    store, catalogue = new.store, new.replica.catalogue
    if store.dimension() is None:
        return ""
    about = catalogue.about()
    if about is None:
        return "something" if store.count() else ""
    if store.get([_UNFINISHED]).get(_UNFINISHED) == new.record.meta("replica") != "":
        return ""
    heads = catalogue.heads()
    ours = about[:2] == new.model and all(
        key in wanted and wanted[key].content == content_of(head.version) for key, head in heads.items()
    )
    return "" if ours else f"a library ({len(heads):,} documents)"


def _copy(new: StoredIndex, wanted: Mapping[str, KeptDocument], step: Step) -> int:
    """Publish what is missing, remove what is superfluous; return how many documents were published."""
    catalogue = new.replica.catalogue
    heads = catalogue.heads()
    catalogue.withdraw([key for key in heads if key not in wanted])
    missing = [
        document
        for key, document in wanted.items()
        if key not in heads or content_of(heads[key].version) != document.content
    ]
    done = len(wanted) - len(missing)
    step(done, len(wanted))
    numbers = [document.id for document in missing]
    terms = new.store.capabilities.keyword
    for batch in publications(new.record, new.lookup, numbers, new.model[1], terms=terms):
        catalogue.publish(batch)
        done += len(batch)
        step(done, len(wanted))
    if missing:
        catalogue.touch()
    return len(missing)


def _check(new: StoredIndex, wanted: Mapping[str, KeptDocument]) -> int:
    """Check that the new home has every document and passage; return the number of passages."""
    expected = new.record.embedded_passages()
    deadline = time.monotonic() + (_SETTLE_SECONDS if new.store.capabilities.eventual else 0)
    problem = _difference(new, wanted, expected)
    while problem and time.monotonic() < deadline:
        time.sleep(1.0)
        problem = _difference(new, wanted, expected)
    if problem:
        catalogue = new.replica.catalogue
        # Points of versions that an interrupted writer left behind.
        catalogue.clear_strays(catalogue.heads())
        problem = _difference(new, wanted, expected)
    if problem:
        raise StoreError(
            f"The copy in {name_of(new.store.settings)} is incomplete: {problem}. The index stays where it was; try "
            "again, with --replace if this does not go away."
        )
    return expected


def _difference(new: StoredIndex, wanted: Mapping[str, KeptDocument], expected: int) -> str:
    heads = new.replica.catalogue.heads()
    contents = {key: content_of(head.version) for key, head in heads.items()}
    if contents != {key: document.content for key, document in wanted.items()}:
        return f"{len(heads):,} documents where there should be {len(wanted):,}, or other versions of them"
    found = new.store.count()
    return "" if found == expected else f"{found:,} passages where there should be {expected:,}"


def move(
    old: LocalIndex,
    database: DatabaseSettings,
    *,
    replace_other: bool = False,
    drop_old: bool = False,
    step: Step = lambda done, total: None,
) -> tuple[LocalIndex, MoveReport]:
    """Give the index another home; return it opened there. The caller holds the writer lock."""
    started = time.perf_counter()
    target = complete(old.folder, located(database), DatabaseSettings())
    _check_wish(old, target)
    new = _opened(old, target)
    try:
        # What others published, and what was never published, is part of the library.
        old.catch_up()
        documents = kept_documents(new)
        report = MoveReport(_describe(old), _describe(new), len(documents))
        if isinstance(new, EmbeddedIndex):
            _copy_to_folder(new, report)
        else:
            assert isinstance(new, StoredIndex)
            report.copied, report.passages = copy_library(
                old, new, documents, replace_other=replace_other, step=step
            )
        _change_home(old, new, located(database), documents)
    except BaseException:
        new.close()
        raise
    if drop_old:
        _drop(old, report)
    report.seconds = time.perf_counter() - started
    return new, report


def _check_wish(old: LocalIndex, target: DatabaseSettings) -> None:
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


def _opened(old: LocalIndex, target: DatabaseSettings) -> LocalIndex:
    if target.provider == EMBEDDED:
        return EmbeddedIndex(old.folder, create=False)
    return connected(old.folder, create=False, settings=target)


def _describe(index: LocalIndex) -> str:
    return index.store.describe() if isinstance(index, StoredIndex) else EMBEDDED


# -- to the folder ---------------------------------------------------------------------------------------------


def _copy_to_folder(new: EmbeddedIndex, report: MoveReport) -> None:
    """Rebuild the vector matrix; everything else is already in the folder."""
    new.discard_vectors()
    new.catch_up_vectors()
    expected, found = new.record.embedded_passages(), new.vectors.snapshot.live
    if expected != found:
        raise StoreError(
            f"The copy in {new.folder} is incomplete: {found:,} passages where there should be {expected:,}."
        )
    report.copied, report.passages = report.documents, found


# -- the change itself -----------------------------------------------------------------------------------------


def _change_home(
    old: LocalIndex, new: LocalIndex, home: DatabaseSettings, documents: Mapping[str, KeptDocument]
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


def _remember_stored(new: LocalIndex, documents: Mapping[str, KeptDocument]) -> None:
    """Record what the new home has instead of what the old one had."""
    heads = new.replica.catalogue.heads() if isinstance(new, StoredIndex) and documents else {}
    rows = [(key, heads[key].version, item.id, item.path) for key, item in documents.items() if key in heads]
    with new.database.transaction() as connection:
        connection.execute("DELETE FROM stored")
        connection.executemany("INSERT INTO stored VALUES (?, ?, ?, ?)", rows)
        generation = (STORED_GENERATION, str(new.record.generation()))
        insert(connection, "meta", [generation], "INSERT OR REPLACE")


def _drop(old: LocalIndex, report: MoveReport) -> None:
    """Delete the data in the old home. The library is safe in the new one, so a failure is only reported."""
    try:
        if isinstance(old, StoredIndex):
            old.store.drop()
        else:
            old.discard_vectors()
        report.dropped = True
    except StoreError as error:
        report.warnings.append(f"The library was moved, but the old copy is still there: {error}")
