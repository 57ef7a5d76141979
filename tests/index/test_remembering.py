"""What a search asks again is answered from memory until somebody changes the record."""

import sqlite3
from pathlib import Path

from loccit.index.folder.database import Database
from loccit.index.folder.seals import insert

_COUNT = "SELECT count(*) FROM roots WHERE path = ?"


def test_a_change_is_seen_by_the_next_search_whoever_made_it(tmp_path: Path) -> None:
    database = Database(tmp_path / "record.sqlite3", create=True)

    def found() -> int:
        with database.remembering():
            return int(database.value(_COUNT, ("/docs",)))

    assert found() == 0
    with database.transaction() as connection:
        insert(connection, "roots", [("/docs",)])
    assert found() == 1
    other = sqlite3.connect(database.path)
    with other:
        other.execute("DELETE FROM roots")
    other.close()
    assert found() == 0
    database.close()


def test_one_search_sees_one_answer_and_asks_once(tmp_path: Path) -> None:
    database = Database(tmp_path / "record.sqlite3", create=True)
    asked: list[str] = []
    database.connection.set_trace_callback(asked.append)
    with database.remembering():
        answers = [database.value(_COUNT, (path,)) for path in ("/docs", "/docs", "/other")]
    with database.remembering():
        answers.append(database.value(_COUNT, ("/docs",)))
    assert answers == [0, 0, 0, 0]
    assert sum("count(*)" in query for query in asked) == 2
    database.value(_COUNT, ("/docs",))
    assert sum("count(*)" in query for query in asked) == 3, "outside of a search the record itself is asked"
    database.close()
