"""What source code defines, and what a place in it is a part of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.structure.code_names import Definition, definitions, names_line, scope

PYTHON = '''import os


class Pump(Base):
    """Moves water."""

    async def start(self, speed):
        def ramp():
            return speed
        for step in ramp():
            self.run(step)

    @property
    def running(self) -> bool:
        return True


def main():
    Pump().start(3)
'''
RUST = """pub struct Cache<K, V> {
    entries: HashMap<K, V>,
}

impl<K, V> Cache<K, V> {
    pub(crate) async fn lookup(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "report")
    }
}

impl<T> Iterator for Walk<T> {
    type Item = T;
}

pub trait Store {}
enum Colour { Red }
macro_rules! square { () => {} }
const fn two() -> u8 { 2 }
mod tests {}
"""
JAVA = """package shop.orders;

public final class OrderService extends Base {
    @Override
    public List<Order> findOrders(String user, int limit) {
        for (Order order : orders) {
            return new ArrayList<>(check(order));
        }
    }

    private static <T> Map<String, T> indexed(List<T> items)
            throws IOException {
        return null;
    }

    interface Visitor { }
    enum State { OPEN }
}
"""
GO = """package cache

type Cache struct {
	entries map[string]int
}

type Store interface {
	Get(key string) int
}

func NewCache() *Cache {
	return &Cache{}
}

func (c *Cache) Get(key string) int {
	if key == "" {
		return 0
	}
	return c.entries[key]
}
"""
CPP = """#include <vector>

namespace geometry {

class Point {
 public:
    virtual double length() const {
        return 0;
    }
};

template <typename T>
struct Box {
    T value;
};

enum class Colour { Red };
union Either { int a; float b; };
}
"""
JAVASCRIPT = """import x from "y";

export default class Store extends Base {
  load(id) {
    return fetch(id);
  }
}

export async function getUser(id) {
  return 1;
}

function* walk(tree) {
  yield tree;
}
"""

C = """#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
MODULE_LICENSE("GPL");

struct node {
    int value;
};

int node_count(const struct node *first);
static int counter(3);

static struct node *node_new(int value, void (*done)(int))
{
    struct node *made = malloc(sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    return made;
}

unsigned long node_count(const struct node *first,
                         int from)
{
    while (first) {
        node_visit(first);
    }
    return node_total(first);
}

void
node_free (struct node *it)
{
  free (it);
}

int main(int argc, char **argv) {
    return printf("%d", MAX(1, 2));
}
"""
CPP_BODIES = """class Pump {
 public:
    Pump(int speed) : speed_(speed) {}
    int speed() const { return speed_; }
    void reset() override {
        speed_ = 0;
    }
};

Pump::Pump(int speed)
    : speed_(speed), on_(false) {
    start(speed);
}

Pump::~Pump() {}

void Pump::start(int speed) const noexcept {
    std::thread worker([&] {
        run();
    });
    switch (speed) {
    }
}

std::vector<int> speeds() {
    return {1, 2};
}

template <typename T> T largest(const std::vector<T>& all) {
    return all[0];
}
"""
ARROWS = """const load = async (id) => {
  const made = await fetch(id);
  return made;
};
export const double = x => 2 * x;
export const Panel = ({
  title,
  children,
}) => {
  return title;
};
const first = <T>(all: T[]): T => all[0];
let handler: Handler = (request, answer) => {
  if (request) {
    answer(1);
  }
};
exports.save = function (id) {
  return id;
};
class Store {
  constructor(id) {
    this.id = id;
  }
  close = () => {
    for (const one of this.all) {
      one.close();
    }
  };
  open(id) {
    return id;
  }
  async fetch(id: string): Promise<string> {
    return id;
  }
}
const routes = () => ({
  list: (request) => request,
  show: async function (request) {
    return request;
  },
});
const total = (1 + 2) * 3;
const same = total == (x => x);
"""
RUBY = """class Pump
  def self.find(id)
    new(id)
  end

  def start
    run { |it| it }
  end
end
"""
SHELL = """backup() {
  tar cf all.tar "$1"
}
clean-up () {
  rm all.tar
}
backup /etc
"""


def found(text: str) -> list[tuple[str, int]]:
    return [(item.name, item.indent) for item in definitions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PYTHON, [("Pump", 0), ("start", 4), ("ramp", 8), ("running", 4), ("main", 0)]),
        (
            RUST,
            [
                *[
                    ("Cache", 0),
                    ("Cache", 0),
                    ("lookup", 4),
                    ("Report", 0),
                    ("fmt", 4),
                    ("Walk", 0),
                    ("Item", 4),
                ],
                *[("Store", 0), ("Colour", 0), ("square", 0), ("two", 0), ("tests", 0)],
            ],
        ),
        (JAVA, [("OrderService", 0), ("findOrders", 4), ("indexed", 4), ("Visitor", 4), ("State", 4)]),
        (GO, [("Cache", 0), ("Store", 0), ("NewCache", 0), ("Get", 0)]),
        (CPP, [("geometry", 0), ("Point", 0), ("length", 4), ("Box", 0), ("Colour", 0), ("Either", 0)]),
        (JAVASCRIPT, [("Store", 0), ("load", 2), ("getUser", 0), ("walk", 0)]),
        (C, [("node", 0), ("node_new", 0), ("node_count", 0), ("node_free", 0), ("main", 0)]),
        (
            CPP_BODIES,
            [
                *[("Pump", 0), ("speed", 4), ("reset", 4), ("Pump::Pump", 0), ("Pump::~Pump", 0)],
                *[("Pump::start", 0), ("speeds", 0), ("largest", 0)],
            ],
        ),
        (
            ARROWS,
            [
                *[("load", 0), ("double", 0), ("Panel", 0), ("first", 0), ("handler", 0), ("save", 0)],
                *[
                    ("Store", 0),
                    ("close", 2),
                    ("open", 2),
                    ("fetch", 2),
                    ("routes", 0),
                    ("list", 2),
                    ("show", 2),
                ],
            ],
        ),
        (RUBY, [("Pump", 0), ("find", 2), ("start", 2)]),
        (SHELL, [("backup", 0), ("clean-up", 0)]),
    ],
    ids=["python", "rust", "java", "go", "c++", "javascript", "c", "c++ bodies", "arrows", "ruby", "shell"],
)
def test_definitions_are_found_in_order_with_their_indentation(
    text: str, expected: list[tuple[str, int]]
) -> None:
    assert found(text) == expected


def test_new_is_a_name_where_it_is_defined() -> None:
    rust = "impl Cache {\n    pub fn new() -> Self {\n        Cache {}\n    }\n}\n"
    assert found(rust) == [("Cache", 0), ("new", 4)]
    assert found("sub new {\n    my $class = shift;\n}\n") == [("new", 0)]


def test_places_are_the_lines_of_the_definitions() -> None:
    for item in definitions(PYTHON):
        line = PYTHON[item.start :].partition("\n")[0]
        assert item.name in line and line.startswith(" " * item.indent)


@pytest.mark.parametrize(
    "text",
    [
        "x = classify(y)\n",
        "return definition\n",
        "# class names are written in capitals\n",
        "    if (ready) {\n    while (true) {\n    for (int i = 0; i < 3; i++) {\n",
        "    return new Thing(a, b)\n",
        "functional(x)\n",
        "",
        "return check(order) {\n",
        "    else if (ready) {\n",
        "    match check(order) {\n",
        "for x in range(3) {\n",
        "go func() {\n}\n",
        "new Thread(run) {\n",
        "int count(int limit);\n",
        "    for_each(all) {\n",
        "insert into users (id, name)\nvalues (1, 2)\n",
        "assert check(order,\n             limit)\nsizes = {}\n",
        "x = (a, b)\ny = {}\n",
        "TEST_CLASS(pump)\n{\n",
        "// static int twice(int x) {\n",
    ],
)
def test_uses_are_no_definitions(text: str) -> None:
    assert definitions(text) == []


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        (PYTHON, "return speed", ["Pump", "start", "ramp"]),
        (PYTHON, "return True", ["Pump", "running"]),
        (PYTHON, "def running", ["Pump"]),
        (PYTHON, "class Pump", []),
        (PYTHON, "Pump().start", ["main"]),
        (PYTHON, "import os", []),
        (RUST, "self.entries.get", ["Cache", "lookup"]),
        (RUST, "write!", ["Report", "fmt"]),
        (RUST, "pub trait", []),
        (JAVA, "return new", ["OrderService", "findOrders"]),
        (JAVA, "return null", ["OrderService", "indexed"]),
        (GO, "return c.entries", ["Get"]),
        (GO, "return 0", ["Get"]),
        (CPP, "return 0", ["Point", "length"]),
        (JAVASCRIPT, "return fetch", ["Store", "load"]),
        (C, "return made", ["node_new"]),
        (C, "return node_total", ["node_count"]),
        (C, "free (it)", ["node_free"]),
        (CPP_BODIES, "speed_ = 0", ["Pump", "reset"]),
        (CPP_BODIES, "run();", ["Pump::start"]),
        (ARROWS, "return made", ["load"]),
        (ARROWS, "return title", ["Panel"]),
        (ARROWS, "one.close", ["Store", "close"]),
        (ARROWS, "this.id = id", ["Store"]),
    ],
)
def test_a_place_knows_what_it_is_inside_of(text: str, place: str, expected: list[str]) -> None:
    at = text.index(place)
    assert scope(definitions(text), text, at) == expected
    start_of_line = text.rfind("\n", 0, at) + 1
    assert scope(definitions(text), text, start_of_line) == expected, "wherever in the line a chunk begins"


def test_blank_lines_before_a_place_do_not_matter() -> None:
    at = PYTHON.index("\n\ndef main")
    assert scope(definitions(PYTHON), PYTHON, at) == []
    assert scope(definitions(PYTHON), PYTHON, len(PYTHON)) == []
    assert scope([], PYTHON, 0) == []


def test_the_outermost_names_come_first_and_each_once() -> None:
    assert names_line(definitions(RUST), 200).startswith("Cache, Report, Walk, Store, Colour")
    line = names_line(definitions(PYTHON), 200)
    assert line == "Pump, main, start, ramp, running"
    assert names_line(definitions(PYTHON), 10) == "Pump, main"
    assert names_line(definitions(PYTHON), 9) == "Pump"
    assert names_line(definitions(PYTHON), 2) == ""
    assert names_line([], 100) == ""


names = st.text("abcdefgh_", min_size=1, max_size=8)


@given(
    st.lists(st.builds(Definition, names, st.integers(0, 999), st.sampled_from([0, 4, 8])), max_size=30),
    st.integers(0, 80),
)
def test_a_line_of_names_fits(items: list[Definition], characters: int) -> None:
    line = names_line(items, characters)
    assert len(line) <= characters
    shown = line.split(", ") if line else []
    assert len(shown) == len(set(shown))
    assert set(shown) <= {item.name for item in items}


@given(
    st.lists(
        st.sampled_from(["class A:", "  def b():", "\tfn c()", "   x = 1", "", "}", "pub "]), max_size=30
    ).map("\n".join)
)
def test_scopes_are_what_is_open_above_a_place(text: str) -> None:
    known = definitions(text)
    position = 0
    for line in text.split("\n"):
        if line.strip():
            indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
            still_open: list[Definition] = []
            for item in [
                *(item for item in known if item.start < position),
                Definition("", position, indent),
            ]:
                still_open = [other for other in still_open if other.indent < item.indent]
                still_open.append(item)
            assert scope(known, text, position) == [item.name for item in still_open[:-1]]
        position += len(line) + 1


@pytest.mark.parametrize(
    "text",
    [
        "    " + "public " * 20_000,
        "    public " + " " * 100_000 + "x",
        "    static a" + ", a" * 50_000,
        "impl " + "a::" * 50_000 + " for",
        "func (" * 30_000,
        "class " + "<" * 100_000,
        "\t" * 100_000,
        "int f(" * 30_000,
        "x = (" * 30_000,
        "x = ((a" * 30_000 + ")" * 100,
        "x = (a\n" * 20_000,
        "int f(a\n" * 20_000,
        "a b c d e f g h(" + "(a)" * 30_000,
        "  f(a)\n:\n" * 10_000,
        "template <" + "a, " * 50_000,
        "a::" * 50_000 + "b(",
        "def \u202e\x00(\n" * 1000,
    ],
)
def test_hostile_text_comes_to_an_end(text: str) -> None:
    assert len(definitions(text)) <= text.count("\n") + 1


def test_lines_that_end_as_on_windows() -> None:
    assert found(JAVA.replace("\n", "\r\n")) == found(JAVA)
    assert found(GO.replace("\n", "\r\n")) == found(GO)
