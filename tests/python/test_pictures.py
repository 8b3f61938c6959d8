"""Pictures of reports: what they show, the words that choose it, their files."""

import importlib.util
import pathlib
import re
import warnings

import numpy as np
import pytest
import workbench as wb


def tips(picture):
    return [part.partition("</title>")[0] for part in str(picture).split("<title>")[1:]]


def differing(shape, at, by):
    want = np.zeros(shape)
    got = want.copy()
    for place, error in zip(at, by):
        got[place] = error
    return wb.check(lambda: got, lambda: want)


def test_a_map_names_the_elements_under_the_pointer():
    report = differing((3, 4), [(1, 2)], [0.5])
    picture = str(report.plot())
    assert "[1, 2]: 0.5 instead of 0, off by +0.5" in tips(report.plot())
    assert "1 of 12 elements beyond" in picture and "largest error 0.5 at [1, 2]" in picture


def test_a_tip_tells_numbers_that_look_alike_apart():
    want = np.ones(3, np.float32)
    got = want + np.float32(2**-20)
    shown = tips(wb.check(lambda: got, lambda: want, rtol=0, atol=0).plot(kind="relative"))
    # 2**-20 is 9.54e-7.
    assert shown[0] == "[0]: 1.000001 instead of 1, off by 9.54e-7"


def test_kinds_of_differences_are_counted_as_they_say():
    want, got = np.array([2.0, 4.0]), np.array([3.0, 4.0])
    report = wb.check(lambda: got, lambda: want, rtol=0.25, atol=0.5)
    assert "largest error 1 at [0]" in str(report.plot())
    assert "largest error 0.5 at [0]" in str(report.plot(kind="relative"))
    # The tolerance of 2 is 0.5 + 0.25 * 2 = 1.
    assert "largest error 1× at [0]" in str(report.plot(kind="tolerance"))


def test_three_dimensions_are_slices_with_their_coordinates():
    report = differing((4, 5, 6), [(2, 1, 3), (0, 0, 0)], [1.0, 2.0])
    mosaic = str(report.plot())
    assert all(f"[{i}, :, :]" in mosaic for i in range(4))
    one = str(report.plot(slice=(2,)))
    assert "[2, :, :]" in one and "1 of 30 elements beyond" in one and "largest error 1 at [2, 1, 3]" in one
    assert "[2, 1, 3]: 1 instead of 0, off by +1" in tips(one)


def test_a_card_has_a_slider_of_slices_without_scripts():
    report = differing((4, 5, 6), [(2, 1, 3)], [1.0])
    page = report._repr_mimebundle_()["text/html"]
    assert page.count('type="radio"') == 4 and page.count(" checked") == 1 and "<script" not in page and "onclick" not in page
    # The slice with the mismatch is shown first.
    checked = page.split(" checked>")[1]
    assert checked.split("</label>")[0] == "[2, :, :] ✗ 1" and page.count(" ✓</label>") == 3


def test_what_is_equal_is_no_picture():
    report = wb.check(lambda x: x, lambda x: x, np.arange(6.0))
    assert "all 6 elements are equal" in str(report.plot())
    assert "<svg" not in report._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.plot(1), "there is no output 1: the check has 1"),
        (lambda r: r.plot(kind="percent"), 'kind is "percent"; it is one of "signed", "absolute", "relative", "tolerance"'),
        (lambda r: r.plot(scale="cubic"), 'scale is "cubic"; it is one of "auto", "linear", "sqrt", "log"'),
        (lambda r: r.plot(slice=(1,)), "all but the last two dimensions of [3, 4]: none"),
        (lambda r: wb.check(lambda: np.zeros((4, 5, 6)), lambda: np.ones((4, 5, 6))).plot(slice=(-1,)), "of [4, 5, 6]: 0 to 3"),
        (lambda r: r.histogram(kind="signed"), 'kind is "signed"; it is one of "ulp", "absolute", "relative"'),
        (lambda r: r.histogram(scale="sqrt"), 'scale is "sqrt"'),
    ],
)
def test_words_that_choose_nothing_are_named(call, message):
    with pytest.raises(wb.ArgumentError) as raised:
        call(differing((3, 4), [(1, 2)], [0.5]))
    assert message in str(raised.value)


def test_outputs_that_cannot_be_compared_have_no_picture():
    report = wb.check(lambda: np.zeros(3), lambda: np.zeros(4))
    with pytest.raises(wb.ArgumentError, match="could not be compared"):
        report.plot()


def test_integers_have_no_last_place():
    report = wb.check(lambda: np.array([1, 2, 3]), lambda: np.array([1, 2, 5]))
    with pytest.raises(wb.ArgumentError, match="int64 has no last place"):
        report.histogram()
    assert "largest 2" in str(report.histogram(kind="absolute"))


def test_a_scatter_counts_what_is_above_the_tolerance():
    want = np.array([1.0, 10.0, 100.0, 0.0])
    report = wb.check(lambda: want + np.array([0.5, 0.5, 0.5, 0.0]), lambda: want, rtol=0.01, atol=0.0)
    assert "2 of 4 elements above the tolerance; 1 without any error" in str(report.scatter())


def test_pictures_are_saved_by_their_ending(tmp_path):
    picture = differing((3, 4), [(1, 2)], [0.5]).plot()
    picture.save(tmp_path / "map.svg")
    saved = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert saved.startswith("<svg") and saved.count("<path") == str(picture).count("<path")
    picture.save(tmp_path / "map.PNG")
    content = (tmp_path / "map.PNG").read_bytes()
    # The signature of PNG, and the width in the header: twice the picture's, which has a margin of 14 on either side.
    width = int(str(picture).split('width="')[1].split('"')[0]) + 28
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(content[16:20], "big") == 2 * width
    with pytest.raises(wb.ArgumentError, match="ends in neither"):
        picture.save(tmp_path / "map.pdf")
    with pytest.raises(OSError):
        picture.save(tmp_path / "none" / "map.svg")


def test_a_png_has_the_colours_of_the_picture(tmp_path):
    """A reader without CSS variables would draw everything black."""
    resvg = pytest.importorskip("resvg_py")
    report = differing((3, 4), [(1, 2)], [0.5])
    report.plot().save(tmp_path / "map.png")
    from workbench import _png

    seen = []
    original = resvg.svg_to_bytes
    try:
        resvg.svg_to_bytes = lambda svg_string, **options: seen.append(svg_string) or original(svg_string=svg_string, **options)
        report.plot().save(tmp_path / "again.png")
    finally:
        resvg.svg_to_bytes = original
    assert "var(" not in seen[0] and "fill:#d55e00;fill:#d55e00" in seen[0] and _png.__all__ == ["png_of"]


def test_a_png_has_words(tmp_path):
    """The renderer leaves out text for which it has no font, in silence."""
    resvg = pytest.importorskip("resvg_py")
    picture = differing((3, 4), [(1, 2)], [0.5]).plot()
    picture.save(tmp_path / "map.png")
    assert "<text" in str(picture)
    # The words are in the file: it is not what the picture without them gives.
    from workbench import _png

    without = re.sub("<text.*?</text>", "", str(picture))
    assert _png.png_of(without) == bytes(resvg.svg_to_bytes(svg_string=without, zoom=2.0))
    assert _png.png_of(str(picture)) != _png.png_of(without)


def test_a_machine_without_fonts_is_told_so(tmp_path, monkeypatch):
    resvg = pytest.importorskip("resvg_py")
    from workbench import _png

    original = resvg.svg_to_bytes
    monkeypatch.setattr(resvg, "svg_to_bytes", lambda **options: original(**options, skip_system_fonts=True))
    monkeypatch.setattr(_png, "_fonts", _png._fonts.__wrapped__)
    picture = differing((3,), [(1,)], [0.5]).plot()
    if importlib.util.find_spec("matplotlib") is not None:
        # The fonts of matplotlib do.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            picture.save(tmp_path / "map.png")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="no font was found, so the PNG has no words"):
        picture.save(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_a_missing_package_for_png_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match="pip install resvg-py"):
        differing((3,), [(1,)], [0.5]).plot().save(tmp_path / "map.png")


@pytest.fixture(scope="module")
def timed():
    contestants = {"one": lambda x: x + 1, "two": lambda x: x + 1 + 1}
    return wb.bench(
        contestants, [1000, 4000], lambda n: np.ones(n), bytes="arguments", flops={"one": lambda n: n, "two": lambda n: 2 * n}, seconds_per_size=0.01
    )


def test_bytes_and_operations_are_in_every_form(timed):
    rows = {(row["name"], row["size"]): row for row in timed.rows}
    # One array of doubles in, one out.
    assert rows["one", 1000]["bytes"] == 16_000 and rows["two", 4000]["bytes"] == 64_000
    assert rows["one", 1000]["flops"] == 1000 and rows["two", 4000]["flops"] == 8000
    assert "GFLOP/s" in str(timed) or "MFLOP/s" in str(timed)
    assert list(timed.to_pandas()["flops"]) == [row["flops"] for row in timed.rows]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("time", "time per call"),
        ("throughput", "Throughput"),
        ("auto", "Throughput"),
        ("arithmetic", "Operations per second"),
        ("speedup", "over two"),
        ("samples", "Samples at n = 4 k"),
        ("roofline", "operations per byte"),
    ],
)
def test_views_of_a_benchmark(timed, kind, shown):
    assert shown.lower() in str(timed.plot(kind)).lower()


def test_samples_are_of_a_size_that_was_measured(timed):
    assert "Samples at n = 1 k" in str(timed.plot("samples", size=1000))
    with pytest.raises(wb.ArgumentError, match=r"size is 5, and \[1000, 4000\] were measured"):
        timed.plot("samples", size=5)
    with pytest.raises(wb.ArgumentError, match="size is about kind=\"samples\""):
        timed.plot("time", size=1000)
    with pytest.raises(wb.ArgumentError, match='kind is "pie"'):
        timed.plot("pie")


@pytest.mark.parametrize(
    ("work", "message"),
    [
        ({"bytes": 12}, "bytes of `one` is 12; a callable is wanted"),
        ({"bytes": "all"}, "bytes is 'all'"),
        ({"flops": "arguments"}, "flops is 'arguments'"),
        ({"flops": {"three": len}}, "flops names `three`, which is no contestant; these are one"),
        ({"flops": lambda n: -n}, "flops of `one` at 10 is -10; a whole number from 0 on is wanted"),
        ({"bytes": lambda n: n / 3}, "bytes of `one` at 10 is"),
    ],
)
def test_work_that_is_no_count_is_refused(work, message):
    with pytest.raises(wb.ArgumentError) as raised:
        wb.bench({"one": lambda n: n}, [10], lambda n: n, seconds_per_size=0.001, **work)
    assert message in str(raised.value)


def test_counts_are_looked_at_before_the_time_is_spent():
    calls = []
    with pytest.raises(ZeroDivisionError):
        wb.bench({"one": calls.append}, [10], lambda n: n, bytes=lambda n: n // 0, seconds_per_size=0.001)
    with pytest.raises(wb.ArgumentError, match="below 2"):
        wb.bench({"one": calls.append}, [10], lambda n: n, flops=lambda n: 10**30, seconds_per_size=0.001)
    assert calls == []


def test_memory_that_is_shared_counts_once():
    def in_place(a, b):
        a += b
        return a

    report = wb.bench(
        {"in place": in_place, "view": lambda a, b: a[:10], "new": np.add}, [64], lambda n: (np.ones(n), np.ones(n)), bytes="arguments", seconds_per_size=0.01
    )
    assert {row["name"]: row["bytes"] for row in report.rows} == {"in place": 1024, "view": 1024, "new": 1536}


def test_a_failing_gradient_shows_its_jacobian():
    twice = wb.op(
        "pictures::twice(Tensor x) -> Tensor",
        "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }",
    )
    twice.register_autograd(lambda ctx, grad: 3 * grad)
    report = twice.gradcheck(np.ones(4, np.float32), raise_exception=False)
    assert not report and report.count == 4
    assert report.mismatches[1]["argument_index"] == (1,) and report.mismatches[1]["output_index"] == (1,)
    assert report.mismatches[0]["backward"] == 3 and report.mismatches[0]["differences"] == pytest.approx(2, abs=1e-6)
    picture = str(report.plot())
    assert "4 of 16 elements beyond" in picture and "<svg" in report._repr_mimebundle_()["text/html"]
    # Rows and columns say which elements they are.
    assert "down: elements of output 0; across: elements of x" in picture and ">output 0[3]<" in picture and ">x[3]<" in picture and "`" not in picture
    assert "output 0[1] by x[1]: 3 instead of " in " ".join(tips(picture))
    with pytest.raises(wb.ArgumentError, match=r"argument 1 has no Jacobian; these have: \[0\]"):
        report.plot(1)


def test_a_saved_picture_has_a_page(tmp_path):
    picture = differing((3,), [(1,)], [0.5]).plot()
    path = tmp_path / "map.svg"
    for options, ground in (({}, "#ffffff"), ({"page": "light"}, "#ffffff"), ({"page": "dark"}, "#111111")):
        picture.save(path, **options)
        assert f'fill="{ground}"/>' in path.read_text() and "var(" not in path.read_text()
    picture.save(path, page=None)
    assert path.read_text() == str(picture)
    with pytest.raises(wb.ArgumentError, match='page is "grey"; it is one of "light", "dark"'):
        picture.save(path, page="grey")
    resvg = pytest.importorskip("resvg_py")
    assert resvg
    for page in ("light", "dark", None):
        picture.save(tmp_path / f"{page}.png", page=page)
    assert len({(tmp_path / f"{page}.png").read_bytes() for page in ("light", "dark", None)}) == 3


def test_a_writer_map_names_block_and_thread():
    source = """
    __global__ void half(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && i != 5) y[i] = x[i];
    }"""
    half = wb.op("pictures::half(Tensor x) -> Tensor", source, shape="x[n] -> y[n]", block=32)
    written = half.writer_map(np.ones(70, np.float32))
    shown = tips(written.plot())
    assert len(shown) == 70 and shown[5] == "[5]: nobody wrote it"
    assert shown[69] == "[69]: block (2, 0, 0), thread (5, 0, 0)"
    host = wb.op("pictures::host(Tensor x) -> Tensor", lambda x: x + 1)
    assert not hasattr(host, "writer_map")
    # As arrays: thread i of all wrote element i, but for the one that is left out.
    at = np.arange(70)
    assert written.shape == (70,) and written.block == (32, 1, 1) and written.unwritten.tolist() == (at == 5).tolist()
    expected = np.where(at == 5, -1, at // 32), np.where(at == 5, -1, at % 32)
    assert (written.blocks[:, 0] == expected[0]).all() and (written.threads[:, 0] == expected[1]).all()
    assert "1 element unwritten, the first at [5]" in repr(written) and written.others == {}


def test_a_writer_map_of_an_empty_array():
    source = "__global__ void same(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }"
    op = wb.op("pictures::same(Tensor x) -> Tensor", source, shape="x[n] -> y[n]")
    written = op.writer_map(np.ones(0, np.float32))
    assert written.blocks.shape == (0, 3) and "0 blocks" in repr(written) and "the array is empty" in str(written.plot())
    assert len(written._table().rows) == 0
    with pytest.raises(wb.ArgumentError, match="an index of an array"):
        written.plot(at=0)


def test_a_writer_map_goes_to_an_element_and_has_all_arrays():
    source = """
    __global__ void both(const float* x, float* y, float* z, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) { y[i] = x[i]; if (i != n - 1) z[i] = x[i]; }
    }"""
    both = wb.op("pictures::both(Tensor x) -> (Tensor y, Tensor z)", source, shape="x[n] -> y[n], z[n]")
    written = both.writer_map(np.ones(10_000, np.float32))
    assert written.name == "y" and list(written.others) == ["z"] and not written.unwritten.any()
    assert "[0:1536] of [10000]" in str(written.plot()) and "[640:2176] of [10000]" in str(written.plot(at=700))
    # The hole is where the picture is.
    assert "[9999]: nobody wrote it" in tips(written.others["z"].plot())
    assert str(written.plot(at=-1)) == str(written.plot(at=(9999,)))
    for wrong in (10_000, (0, 0), "x", 1.5, (-10_001,)):
        with pytest.raises(wb.ArgumentError, match=r"an index of an array of shape \(10000,\) is wanted"):
            written.plot(at=wrong)


def test_ceilings_are_positive_numbers():
    ceilings = wb.ceilings()
    assert ceilings["bytes_per_second"] > 1e7 and ceilings["flops_per_second"] > 1e7


def test_files_of_a_benchmark_have_its_picture_and_its_counts(tmp_path, timed):
    timed.save(tmp_path / "r.png")
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"
    timed.save(tmp_path / "r.csv")
    head = pathlib.Path(tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.endswith("samples,batch,bytes,flops,tier")
