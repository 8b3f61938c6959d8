"""pybind11's objects in host code: what Python gives is Python's, what it is asked for is what Python answers."""

import traceback

import numpy as np
import pytest

import workbench as wb


def load(text):
    return wb.load_inline("objects", "#include <torch/extension.h>\n" + text)


@pytest.fixture(scope="module")
def layers():
    """A model's parameters by name, as level 3 of public collections of kernels passes them."""
    return load(r"""
torch::Tensor forward(torch::Tensor x, py::object params, bool is_training) {
  auto get = [&](const std::string& name) -> torch::Tensor { return params.attr("__getitem__")(name.c_str()).cast<torch::Tensor>(); };
  for (int i = 0; i < 2; i++) {
    const std::string at = "layers." + std::to_string(i) + ".";
    x = torch::matmul(x, get(at + "weight").t()) + get(at + "bias");
  }
  if (py::hasattr(params, "scale")) x = x * params.attr("scale").cast<double>();
  return is_training ? x : x.relu();
}
torch::Tensor blocks(torch::Tensor x, py::dict params) {
  for (auto item : params["blocks"].cast<py::list>()) {
    auto block = item.cast<py::dict>();
    std::vector<torch::Tensor> weights = block["weights"].cast<std::vector<torch::Tensor>>();
    for (auto& w : weights) x = x + w;
    if (block.contains("gain")) x = x * block["gain"].cast<float>();
  }
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "forward", py::arg("x"), py::arg("params"), py::arg("is_training") = true);
  m.def("blocks", &blocks);
}
""")


class Parameters:
    """As `torch.nn.ParameterDict`: no dict, but what has items."""

    def __init__(self, items, **attributes):
        self.items, self.asked = items, []
        vars(self).update(attributes)

    def __getitem__(self, name):
        self.asked.append(name)
        return self.items[name]


def weights(rng):
    return {f"layers.{i}.{what}": rng.standard_normal((4, 4) if what == "weight" else 4) for i in range(2) for what in ("weight", "bias")}


def expected(x, w):
    for i in range(2):
        x = x @ w[f"layers.{i}.weight"].T + w[f"layers.{i}.bias"]
    return x


def test_parameters_by_name_come_from_dicts_and_from_what_is_like_them(layers):
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 4)), weights(rng)
    # Sums of four products of numbers about one, twice: some 2^-53 times ten.
    np.testing.assert_allclose(layers.forward(x, w), expected(x, w), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(layers.forward(x, w, False), np.maximum(expected(x, w), 0), rtol=1e-13, atol=1e-14)
    given = Parameters(w, scale=2.5)
    np.testing.assert_allclose(layers.forward(x, params=given), 2.5 * expected(x, w), rtol=1e-13, atol=1e-13)
    assert given.asked == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]


def test_containers_lie_in_one_another(layers):
    rng = np.random.default_rng(2)
    x, a, b, c = rng.standard_normal((4, 5)).astype(np.float32)
    got = layers.blocks(x, {"blocks": [{"weights": [a, b]}, {"weights": (c,), "gain": 0.5}]})
    np.testing.assert_array_equal(got, ((x + a + b) + c) * np.float32(0.5))
    assert layers.blocks(x, {"blocks": []}) is x


def test_what_is_missing_is_pythons_error(layers):
    x = np.ones((2, 4))
    with pytest.raises(KeyError, match=r"layers\.0\.weight"):
        layers.forward(x, {})
    with pytest.raises(KeyError, match=r"layers\.0\.weight"):
        layers.forward(x, Parameters({}))
    with pytest.raises(KeyError, match="blocks"):
        layers.blocks(x, {})
    with pytest.raises(TypeError, match=r"blocks\(\): argument 2 \(\w+\) must be dict, not list"):
        layers.blocks(x, [])
    with pytest.raises(TypeError, match=r"blocks\(\): argument 2 \(\w+\) must be dict, not object"):
        layers.blocks(x, Parameters({}))
    with pytest.raises(RuntimeError, match="Unable to cast Python instance of type <class 'str'> to C\\+\\+ type 'list'"):
        layers.blocks(x, {"blocks": "none"})
    with pytest.raises(RuntimeError, match="'int'> to C\\+\\+ type 'at::Tensor'"):
        layers.forward(x, {"layers.0.weight": 3})
    np.testing.assert_array_equal(layers.blocks(x, {"blocks": [{"weights": [x]}]}), 2 * x)


@pytest.fixture(scope="module")
def values():
    return load(r"""
py::dict everything(py::object none, bool flag, int64_t n) {
  py::dict made("flag"_a = flag);
  made["none"] = none;
  made["n"] = n;
  made["half"] = 0.5;
  made["text"] = "text";
  made["string"] = std::string("string");
  made["list"] = py::list();
  made["list"].cast<py::list>().append(1);
  made["pair"] = py::make_tuple(n, "two", py::none(), 2.5f);
  made["tensor"] = torch::full({2}, n, torch::kInt);
  made["vector"] = std::vector<int64_t>{1, 2, n};
  made[py::int_(7)] = py::bool_(true);
  made["bytes"] = py::bytes("ab", 1);
  return made;
}
py::object same(py::object o) { return o; }
std::string kind(py::handle o) {
  if (o.is_none()) return "none";
  if (py::isinstance<py::bool_>(o)) return "bool";
  if (py::isinstance<py::int_>(o)) return "int";
  if (py::isinstance<py::float_>(o)) return "float";
  if (py::isinstance<py::str>(o)) return "str";
  if (py::isinstance<py::list>(o)) return "list";
  if (py::isinstance<py::tuple>(o)) return "tuple";
  if (py::isinstance<py::dict>(o)) return "dict";
  if (py::isinstance<py::bytes>(o)) return "bytes";
  if (py::isinstance<torch::Tensor>(o)) return "tensor";
  if (py::isinstance<py::function>(o)) return "function";
  return "object";
}
py::tuple shown(py::object o) { return py::make_tuple(py::str(o), py::repr(o), py::len(o)); }
py::list sorted_keys(py::dict d) {
  py::list keys;
  for (auto item : d) keys.append(item.first);
  keys.attr("sort")();
  return keys;
}
double total(py::iterable items) {
  double sum = 0;
  for (auto item : items) sum += item.cast<double>();
  return sum;
}
int integer(py::object o) { return o.cast<int>(); }
double real(py::object o) { return py::cast<double>(o); }
bool truth(py::object o) { return o.cast<bool>(); }
std::string text(py::object o) { return o.cast<std::string>(); }
int64_t counted(py::args args, py::kwargs kwargs) { return 10 * args.size() + kwargs.size(); }
std::string said(torch::Tensor x, int n, py::args rest, py::kwargs named) {
  std::string all = std::to_string(x.numel()) + ":" + std::to_string(n);
  for (auto item : rest) all += "," + py::str(item).cast<std::string>();
  for (auto item : named) all += ";" + item.first.cast<std::string>() + "=" + py::str(item.second).cast<std::string>();
  return all;
}
py::object compare(py::object a, py::object b) { return py::make_tuple(a.equal(b), a.is(b), a == b, a != b); }
void change(py::list l) { l.append(1); }
py::list changed(py::list l) {
  py::list made;
  for (auto item : l) made.append(item);
  made.attr("insert")(0, "first");
  made[1] = "second";
  made.attr("pop")();
  return made;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("everything", &everything);
  m.def("same", &same);
  m.def("kind", &kind);
  m.def("shown", &shown);
  m.def("sorted_keys", &sorted_keys);
  m.def("total", &total);
  m.def("integer", &integer);
  m.def("real", &real);
  m.def("truth", &truth);
  m.def("text", &text);
  m.def("counted", &counted);
  m.def("said", &said, py::arg("x"), py::arg("n") = 4);
  m.def("compare", &compare);
  m.def("change", &change);
  m.def("changed", &changed);
  m.def("later", [](py::object o) { return py::str("<") + py::str(o) + py::str(">"); });
}
""".replace("m.def(\"later\", [](py::object o) { return py::str(\"<\") + py::str(o) + py::str(\">\"); });", "").replace('("flag"_a = flag)', '(py::arg("flag") = flag)'))


def test_values_of_every_kind_go_out(values):
    made = values.everything(None, True, 5)
    tensor = made.pop("tensor")
    assert tensor.dtype == np.int32 and tensor.tolist() == [5, 5]
    assert made == {
        "flag": True, "none": None, "n": 5, "half": 0.5, "text": "text", "string": "string", "list": [1], "pair": (5, "two", None, 2.5),
        "vector": [1, 2, 5], 7: True, "bytes": b"a",
    }  # fmt: skip
    assert [type(v) for v in made["pair"]] == [int, str, type(None), float] and made["flag"] is True


@pytest.mark.parametrize(
    "value", [None, True, 3, 2**80, -1.5, "t\u00e9xt", b"\x00b", [1, [2]], (1, (2, "x")), {"a": [1], 2: None}, {1.5}], ids=repr
)
def test_values_come_back_as_they_went(values, value):
    got = values.same(value)
    assert got == value and type(got) is type(value)


def test_objects_come_back_themselves(values):
    thing, array = object(), np.arange(3.0)
    assert values.same(thing) is thing
    assert values.same(array) is array
    assert values.same([thing])[0] is thing


def test_kinds_are_pythons(values):
    kinds = {
        "none": None, "bool": True, "int": 3, "float": 0.5, "str": "s", "list": [], "tuple": (), "dict": {}, "bytes": b"", "tensor": np.ones(1),
        "function": len, "object": object(),
    }  # fmt: skip
    assert {values.kind(value): None for value in kinds.values()} == dict.fromkeys(kinds)


def test_texts_and_lengths(values):
    assert values.shown([1, "a", None]) == ("[1, 'a', None]", "[1, 'a', None]", 3)
    assert values.shown("abc") == ("abc", "'abc'", 3)
    assert values.shown(Sized()) == ("sized", "<sized>", 42)
    with pytest.raises(TypeError, match="len"):
        values.shown(3)
    assert values.sorted_keys({"b": 1, "a": 2, "c": 3}) == ["a", "b", "c"]


class Sized:
    def __len__(self):
        return 42

    def __str__(self):
        return "sized"

    def __repr__(self):
        return "<sized>"


def test_what_can_be_gone_through_is(values):
    assert values.total([1, 2.5]) == 3.5
    assert values.total((1,)) == 1
    assert values.total({3: "x", 4: "y"}) == 7
    assert values.total(range(5)) == 10
    assert values.total(x * x for x in range(4)) == 14
    with pytest.raises(TypeError, match="must be iterable, not int"):
        values.total(3)


def test_casts_take_what_pybind11_takes(values):
    assert values.integer(3) == 3 and values.integer(True) == 1
    assert values.real(3) == 3.0 and values.real(-0.25) == -0.25
    assert values.truth(True) is True and values.text("x") == "x"
    for function, wrong in [(values.integer, 2.5), (values.integer, "3"), (values.real, "3"), (values.truth, "x"), (values.text, 3), (values.integer, None)]:
        with pytest.raises(RuntimeError, match="Unable to cast Python instance"):
            function(wrong)


def test_arguments_that_are_left_go_to_args_and_kwargs(values):
    assert values.counted() == 0
    assert values.counted(1, "a", None, k=1) == 31
    x = np.zeros((2, 3), np.float32)
    assert values.said(x) == "6:4"
    assert values.said(x, 7, "more", 1.5, name="v") == "6:7,more,1.5;name=v"
    assert values.said(x, n=2, other=[1]) == "6:2;other=[1]"
    with pytest.raises(TypeError, match="`x` is missing"):
        values.said()
    with pytest.raises(TypeError, match=r"argument 2 \(n\) must be int, not str"):
        values.said(x, "7")


def test_equality_and_identity(values):
    assert values.compare(1, 1.0)[::2] == (True, True)
    assert values.compare([1, "a"], [1, "a"]) == (True, False, True, False)
    thing = object()
    assert values.compare(thing, thing)[0] is True and values.compare(thing, object())[0] is False
    assert values.compare("a", 1) == (False, False, False, True)


def test_a_list_of_the_callers_is_not_changed_in_silence(values):
    mine = [1]
    with pytest.raises(NotImplementedError, match="the caller would not see it"):
        values.change(mine)
    assert mine == [1]
    assert values.changed([1, 2, 3]) == ["first", "second", 2]


@pytest.fixture(scope="module")
def calls():
    return load(r"""
torch::Tensor apply(py::function f, torch::Tensor x) { return f(x, py::arg("scale") = 3).cast<torch::Tensor>(); }
py::object method(py::object o, std::string name) { return o.attr(name.c_str())(1, 2); }
int attempts(py::object f) {
  int failed = 0;
  for (int i = 0; i < 4; i++) {
    try {
      f(i);
    } catch (py::error_already_set& e) {
      failed += std::string(e.what()).size() > 0;
    }
  }
  return failed;
}
void set(py::object o) {
  o.attr("x") = 5;
  o["key"] = py::make_tuple(1, 2);
}
py::object get(py::object o, std::string name) { return py::getattr(o, name.c_str(), py::none()); }
double pi() { return py::module_::import("math").attr("pi").cast<double>(); }
py::object squared(py::function f, int depth) { return depth == 0 ? f(2) : squared(f, depth - 1); }
void talk(py::object o) { py::print("it is", o, 3); }
void no_key() { throw py::key_error("none"); }
int caught(py::object o) {
  try {
    return o.cast<int>();
  } catch (const py::cast_error&) {
    return -1;
  }
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("apply", &apply);
  m.def("method", &method);
  m.def("attempts", &attempts);
  m.def("set", &set);
  m.def("get", &get);
  m.def("pi", &pi);
  m.def("squared", &squared);
  m.def("talk", &talk);
  m.def("no_key", &no_key);
  m.def("caught", &caught);
}
""")


def test_functions_of_python_are_called(calls):
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(calls.apply(lambda t, scale: t * scale, x), 3 * x)
    assert calls.apply(lambda t, scale: t, x) is x
    # An array that only host code holds.
    np.testing.assert_array_equal(calls.apply(lambda t, scale: np.full(1000, scale), x), np.full(1000, 3))
    assert calls.squared(lambda n: n * n, 20) == 4
    with pytest.raises(TypeError, match="must be function, not int"):
        calls.apply(3, x)


def test_an_exception_of_pythons_is_itself(calls):
    class Mine(Exception):
        pass

    def fail(t, scale):
        raise Mine("of mine")

    with pytest.raises(Mine, match="of mine") as caught:
        calls.apply(fail, np.ones(1))
    assert any(frame.name == "fail" for frame in traceback.extract_tb(caught.value.__traceback__))
    with pytest.raises(ZeroDivisionError):
        calls.apply(lambda t, scale: 1 // 0, np.ones(1))
    np.testing.assert_array_equal(calls.apply(lambda t, scale: t, np.ones(1)), [1])


def test_exceptions_of_pythons_are_caught(calls):
    def odd(i):
        if i % 2:
            raise ValueError("odd")

    assert calls.attempts(odd) == 2
    assert calls.attempts(lambda i: None) == 0
    assert calls.caught(3) == 3 and calls.caught("3") == -1
    with pytest.raises(KeyError, match="none"):
        calls.no_key()


def test_attributes_and_items_are_set(calls):
    class Thing(dict):
        pass

    class Holder:
        def __setitem__(self, key, value):
            self.items = {key: value}

    thing = Holder()
    calls.set(thing)
    assert thing.x == 5 and thing.items == {"key": (1, 2)}
    assert calls.get(thing, "x") == 5 and calls.get(thing, "absent") is None
    with pytest.raises(AttributeError, match="absent"):
        calls.method(thing, "absent")


def test_methods_of_values(calls):
    assert calls.method({1: "one"}, "get") == "one"
    with pytest.raises(AttributeError, match="'list' object has no method 'fly'"):
        calls.method([], "fly")
    with pytest.raises(AttributeError, match="'int' object"):
        calls.method(3, "fly")


def test_modules_are_imported(calls):
    assert calls.pi() == np.pi


def test_prints_are_output(calls, capsys):
    calls.talk([1, "a"])
    assert capsys.readouterr().out == "it is [1, 'a'] 3\n"


def test_objects_of_a_call_end_with_it():
    m = load(r"""
static PyObject* kept = nullptr;
py::object keep(py::object o) { kept = o.ptr(); return o; }
py::object again() { return py::object(py::handle(kept)); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("keep", &keep);
  m.def("again", &again);
}
""")
    assert m.keep("x") == "x"
    with pytest.raises(SystemError, match="objects end with the call"):
        m.again()


def test_a_text_without_registrations_has_objects_too():
    m = load("int64_t count(py::args args) { return args.size(); }\npy::dict empty() { return py::dict(); }")
    assert m.count(1, 2, 3) == 3 and m.empty() == {}


@pytest.fixture(scope="module")
def more():
    return load(r"""
py::dict copied(py::dict from) {
  py::dict to;
  for (auto& item : from) to[item.first] = from[item.first];
  to["again"] = from["a"];
  return to;
}
int first(py::iterable items) {
  int sum = 0, n = 0;
  for (auto item : items) {
    sum += item.cast<int>();
    if (++n == 3) break;
  }
  return sum;
}
py::object given(py::function f) {
  py::list l;
  l.append(1);
  f(l);
  return l;
}
void set_error() {
  PyErr_SetString(PyExc_ValueError, "bad");
  throw py::error_already_set();
}
int caught(py::object o) {
  int n = 0;
  try {
    for (auto item : o) n++;
  } catch (py::error_already_set&) {
    return -1;
  }
  return n;
}
std::string shown(py::object o) {
  try {
    return py::str(o);
  } catch (const py::error_already_set& e) {
    return std::string("caught ") + e.what();
  }
}
bool truth(py::object o) { return py::bool_(o); }
bool cast(py::object o) { return o.cast<bool>(); }
py::object forwarded(py::function f, py::args args, py::kwargs kwargs) { return f(*args, **kwargs); }
py::tuple filled(int n) {
  py::tuple t(n);
  for (int i = 0; i < n; i++) t[i] = i * i;
  return t;
}
py::tuple methods(py::object o) { return py::make_tuple(py::hasattr(o, "append"), py::hasattr(o, "items"), py::hasattr(o, "upper"), py::hasattr(o, "fly")); }
std::pair<int, int> pair(std::pair<int, int> p) { return {p.second, p.first}; }
void said(py::object a) { py::print("a", a, py::arg("sep") = "-", py::arg("end") = "!"); }
py::object root() { return py::module::import("math").attr("sqrt")(16); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("copied", &copied);
  m.def("first", &first);
  m.def("given", &given);
  m.def("set_error", &set_error);
  m.def("caught", &caught);
  m.def("shown", &shown);
  m.def("truth", &truth);
  m.def("cast", &cast);
  m.def("forwarded", &forwarded);
  m.def("filled", &filled);
  m.def("methods", &methods);
  m.def("pair", &pair);
  m.def("said", &said);
  m.def("root", &root);
}
""")


def test_items_are_assigned_from_items(more):
    assert more.copied({"a": 1, "b": [2]}) == {"a": 1, "b": [2], "again": 1}


def test_what_has_no_end_is_gone_through_as_far_as_asked(more):
    taken = []

    def numbers():
        n = 0
        while True:
            taken.append(n)
            yield n
            n += 1

    assert more.first(numbers()) == 3 and taken == [0, 1, 2]


def test_changes_that_host_code_would_not_see_are_refused(more):
    with pytest.raises(NotImplementedError, match="host code would not see it"):
        more.given(lambda made: made.append(2))
    assert more.given(lambda made: made) == [1]


def test_errors_of_every_question_are_caught(more):
    def failing():
        yield 1
        raise ValueError("in between")

    class Odd:
        def __str__(self):
            raise ValueError("no text")

        def __bool__(self):
            raise ValueError("no truth")

    assert more.caught(failing()) == -1 and more.caught(3) == -1 and more.caught([1, 2]) == 2
    assert more.shown(Odd()).startswith("caught ") and "no text" in more.shown(Odd())
    with pytest.raises(ValueError, match="bad"):
        more.set_error()
    with pytest.raises(ValueError, match="no truth"):
        more.truth(Odd())


def test_truth_values(more):
    assert [more.cast(x) for x in (True, 0, 2.5, None, np.bool_(True))] == [True, False, True, False, True]
    assert more.truth([]) is False and more.truth([0]) is True
    with pytest.raises(RuntimeError, match="Unable to cast"):
        more.cast("x")


def test_arguments_are_handed_on(more):
    assert more.forwarded(lambda *args, **kwargs: (args, kwargs), 1, "b", c=3) == ((1, "b"), {"c": 3})
    assert more.filled(4) == (0, 1, 4, 9)
    assert more.pair((1, 2)) == (2, 1)
    for wrong in [(1, 2, 3), (1,)]:
        with pytest.raises(TypeError, match="taken as a tuple of 2"):
            more.pair(wrong)


def test_values_have_the_methods_of_their_types(more):
    assert more.methods([]) == (True, False, False, False)
    assert more.methods({}) == (False, True, False, False)
    assert more.methods("x") == (False, False, True, False)


def test_named_tuples_and_numpys_truth_values_stay_what_they_are(values):
    import collections

    point = collections.namedtuple("point", "x y")(1, 2)
    assert values.same(point) is point and type(values.same(np.bool_(True))) is bool


def test_prints_have_separators(more, capsys):
    more.said(3)
    assert capsys.readouterr().out == "a-3!"
    assert more.root() == 4.0


def test_values_are_iterated_by_name_and_truth_values_are_integers():
    m = load(r"""
int64_t summed(py::object o) {
  int64_t sum = 0;
  py::object items = o.attr("__iter__")();
  for (auto item : items) sum += item.cast<int64_t>();
  return sum;
}
int64_t integer(py::int_ n) { return n; }
int number(py::list l) { return l[0].cast<int>(); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("summed", &summed);
  m.def("integer", &integer);
  m.def("number", &number);
}
""")
    assert m.summed([1, 2]) == 3 and m.summed({4: 0}) == 4 and m.summed(range(4)) == 6
    assert m.integer(True) == 1 and m.integer(7) == 7
    with pytest.raises(RuntimeError, match="type <class 'Sized'> to C\\+\\+ type 'int'"):
        m.number([Sized()])


def test_shapes_alone_have_no_values_for_python_to_look_at():
    m = load(r"""
torch::Tensor scaled(torch::Tensor x, py::dict d) { return x.repeat({2, 1}) * d["scale"].cast<double>(); }
torch::Tensor valued(torch::Tensor x, py::object o) { return torch::ones({o.attr("item")().cast<int64_t>()}); }
torch::Tensor called(torch::Tensor x, py::function f) {
  try {
    return f(x).cast<torch::Tensor>();
  } catch (const std::exception&) {
    return x;
  }
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scaled", &scaled);
  m.def("valued", &valued);
  m.def("called", &called);
}
""")
    spec = wb.Spec((2, 3), "float32")
    assert m.scaled.fake(spec, {"scale": 2.0}).shape == (4, 3)
    for function, other in [(m.valued, wb.Spec((), "int64")), (m.called, lambda x: x)]:
        with pytest.raises(RuntimeError, match="only shapes are known: give a shape function"):
            function.fake(spec, other)
    assert m.valued(np.ones((2, 3)), np.array(4)).shape == (4,)
