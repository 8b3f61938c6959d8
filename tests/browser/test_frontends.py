"""Reports and errors outside of JupyterLab's page: in exported notebooks, on paper, without scripts, beside each other, in marimo, in terminals and in files.

What is not held yet is marked with its reason; the mark is strict, so it falls with the defect."""

from __future__ import annotations

import fcntl
import html
import html.parser
import importlib.util
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

import workbench as wb

#: A kernel with a blank line in it, as people write them.
GELU = """
__global__ void gelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // 0.044715 * x**3 and <that> is *all*
    if (i < n) y[i] = 0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
"""
TWICE = "__global__ void twice(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
BAD = "__global__ void k(float* y) {\n    y[0] = missing;\n    y[1] = absent;\n}"


def defect(reason):
    return pytest.mark.xfail(reason=reason, strict=True)


def gelu_numpy(x):
    x = x.astype(np.float64)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def operator(name, text=GELU):
    return wb.op(f"frontends::{name}(Tensor x) -> Tensor", text, shape="x[*] -> y[*]", reference=gelu_numpy)


@pytest.fixture(scope="module")
def reports():
    """A report of every kind, by name."""
    right, wrong = operator("right"), operator("wrong", GELU.replace("0.044715f", "0.04f"))
    rng = np.random.default_rng(7)
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    wrong.register_autograd(lambda ctx, grad: grad)
    kept = operator("kept")
    kept = operator("kept", GELU.replace("0.5f * x[i]", "x[i] * 0.5f"))
    return {
        "check, passed": right.check(x),
        "check, one dimension": wrong.check(x),
        "check, two dimensions": wrong.check(rng.standard_normal((40, 60)).astype(np.float32)),
        "check, three dimensions": wrong.check(rng.standard_normal((4, 10, 12)).astype(np.float32)),
        "check, four dimensions": wrong.check(rng.standard_normal((2, 2, 10, 12)).astype(np.float32)),
        "gradcheck": wrong.gradcheck(x[:10], raise_exception=False),
        "bench": wb.bench({"one": np.sin, "two": np.cos}, [64, 128, 256, 512, 1024], np.ones, seconds_per_size=0.01),
        "sweep": wb.sweep(operator("broken", GELU.replace("i < n", "i < n - 1")), [0, 1, 2]),
        "history": kept.history,
        "tiers": wb.compile(GELU).gelu.tier_report(256),
    }


def page_of(report) -> str:
    return report._repr_mimebundle_()["text/html"]


KINDS = ("check, passed", "check, one dimension", "check, two dimensions", "check, three dimensions", "check, four dimensions", "gradcheck", "bench", "sweep", "history", "tiers")


class Words(html.parser.HTMLParser):
    """The text of a page without its style sheets: what JupyterLab, Jupyter's classic page and GitHub leave of an SVG in a notebook that is not trusted."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.texts = 0, []

    def handle_starttag(self, tag, attrs):
        self.hidden += tag == "style"

    def handle_endtag(self, tag):
        self.hidden -= tag == "style"

    def handle_data(self, data):
        if not self.hidden:
            self.texts.append(data)


def words(page: str) -> str:
    parser = Words()
    parser.feed(page)
    return "".join(parser.texts)


# --- A browser -------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def show(chromium):
    """Shows a page, whose scripts do not run; nothing but the page is loaded."""
    contexts = []

    def show(content: str, system: str = "light", media: str = "screen", width: int = 900):
        context = chromium.new_context(java_script_enabled=False, color_scheme=system, viewport={"width": width, "height": 1000})
        contexts.append(context)
        page = context.new_page()
        page.route("**/*", lambda route: route.abort())
        page.emulate_media(media=media)
        page.set_content(content, wait_until="domcontentloaded")
        return page

    yield show
    for context in contexts:
        context.close()


def maps_shown(page, place: str) -> int:
    maps = page.locator(f"{place} .wb-slider > div")
    return sum(maps.nth(i).is_visible() for i in range(maps.count()))


# --- Cards alone -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_runs_nothing_and_loads_nothing(reports, kind):
    """A stored output stands alone: no script, no handler, no address but the names of XML."""
    page = page_of(reports[kind])
    assert "<script" not in page and not re.search(r"\son\w+=", page) and "@import" not in page and "url(" not in page
    assert set(re.findall(r"https?://[^\"'\s)]+", page)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("kind", KINDS)
def test_text_forms_have_no_markup(reports, kind):
    """`print` and a terminal get text: no tags, no entities, no escape sequences."""
    report = reports[kind]
    for text in (str(report), repr(report), report._repr_mimebundle_()["text/plain"]):
        assert not re.search(r"<(div|svg|style|table|span)\b|&(lt|gt|amp|quot|#\d+);|\x1b", text)


@pytest.mark.parametrize("kind", KINDS)
def test_text_forms_fit_a_terminal(reports, kind):
    """A report is readable at 80 columns, where a longer line breaks anywhere. Lines of a person's own text are as they were written."""
    written = GELU + GELU.replace("0.5f * x[i]", "x[i] * 0.5f")
    assert max(len(line) for line in str(reports[kind]).splitlines() if line[2:].strip() not in written) <= 80


@defect("the tips of a picture are `<title>` elements with text, which a sanitiser keeps when it drops the picture around them")
@pytest.mark.parametrize("kind", ["check, one dimension", "check, two dimensions", "check, three dimensions", "gradcheck"])
def test_a_sanitised_card_is_short(reports, kind):
    """A notebook from somebody else is not trusted: JupyterLab drops style sheets and pictures. What is left is the verdict, the facts and the table."""
    left = words(page_of(reports[kind]))
    # The facts and eight rows of a table have about 900 characters.
    assert len(left) < 3000, len(left)


def test_facts_of_a_sanitised_card_are_words(reports):
    """Names and values of facts are apart without a style sheet, as in the text of a copied card."""
    assert re.search(r"mismatches\s+0 of 1000", words(page_of(reports["check, passed"])))


def test_pictures_have_their_name_for_readers_of_screens(reports):
    """Each picture of a card says what it shows, to those who do not see it."""
    pictures = re.findall(r"<svg [^>]*>", page_of(reports["check, one dimension"]))
    assert pictures and all('role="img"' in one and re.search(r'aria-label="[^"]+"', one) for one in pictures)


# --- Cards beside each other ---------------------------------------------------------------------------------------------------------------


def test_sliders_of_two_outputs_do_not_meet(reports, show):
    """Two checks on a page each show one slice, and a click in one leaves the other as it is; without scripts."""
    one, two = page_of(reports["check, three dimensions"]), page_of(reports["check, four dimensions"])
    page = show(f"<div id=one>{one}</div><div id=two>{two}</div>")
    assert (maps_shown(page, "#one"), maps_shown(page, "#two")) == (1, 1)
    page.locator("#two label").last.click()
    assert page.locator("#two .wb-slider > div").last.is_visible()
    assert (maps_shown(page, "#one"), maps_shown(page, "#two")) == (1, 1)


def test_sliders_of_an_output_that_is_shown_twice_do_not_meet(reports, show):
    """JupyterLab's "Create New View for Output" copies an output into the same page: both show a slice, and each label belongs to its own."""
    card = page_of(reports["check, three dimensions"])
    page = show(f"<div id=one>{card}</div><div id=two>{card}</div>")
    assert (maps_shown(page, "#one"), maps_shown(page, "#two")) == (1, 1)
    page.locator("#two label").last.click()
    assert page.locator("#two .wb-slider > div").last.is_visible()
    assert (maps_shown(page, "#one"), maps_shown(page, "#two")) == (1, 1)


def test_equal_pictures_on_one_page_look_alike(reports, chromium):
    """Ids that repeat on a page break nothing: the second copy of a card has the colours of the first."""
    card = page_of(reports["check, one dimension"])
    page = chromium.new_page()
    page.set_content(f"<div id=one>{card}</div><div id=two>{card}</div>")
    fills = "place => [...document.querySelectorAll(place + ' svg *')].map(e => getComputedStyle(e).fill + getComputedStyle(e).stroke)"
    one, two = page.evaluate(fills, "#one"), page.evaluate(fills, "#two")
    page.close()
    assert len(set(one)) > 3 and one == two


def test_a_slider_works_in_a_sandbox(reports, show):
    """Colab and others show an output in a frame that may run no scripts and knows nothing of the page."""
    page = show(f'<iframe sandbox width=880 height=900 srcdoc="{html.escape(page_of(reports["check, three dimensions"]))}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator(".wb-slider label").last.click()
    assert frame.locator(".wb-slider > div").last.is_visible() and not frame.locator(".wb-slider > div").first.is_visible()


# --- Themes ----------------------------------------------------------------------------------------------------------------------------------

PAGES = {
    # name: system, html's and body's attributes, background, text
    "jupyterlab light": ("dark", "", 'data-jp-theme-light="true"', "#ffffff", "#212121"),
    "jupyterlab dark": ("light", "", 'data-jp-theme-light="false"', "#111111", "#ffffff"),
    "vscode dark": ("light", "", 'class="vscode-dark"', "#1f1f1f", "#cccccc"),
    "vscode light": ("dark", "", 'class="vscode-light"', "#ffffff", "#3b3b3b"),
    "vscode high contrast": ("light", "", 'class="vscode-high-contrast"', "#000000", "#ffffff"),
    "vscode high contrast light": ("dark", "", 'class="vscode-high-contrast vscode-high-contrast-light"', "#ffffff", "#292929"),
    "colab light": ("dark", 'theme="light"', "", "#ffffff", "#212121"),
    "colab dark": ("light", 'theme="dark"', "", "#383838", "#d5d5d5"),
    "jupyter classic": ("dark", "", 'class="notebook_app"', "#ffffff", "#000000"),
    "marimo light": ("dark", 'style="color-scheme:light"', 'class="light" data-theme="light"', "#ffffff", "#0f172a"),
    "marimo dark": ("light", 'style="color-scheme:dark"', 'class="dark" data-theme="dark"', "#181c1a", "#ecebed"),
    "jupyter book light": ("dark", 'data-theme="light" style="color-scheme:light"', "", "#ffffff", "#222832"),
    "quarto light": ("dark", "", 'class="quarto-light"', "#ffffff", "#343a40"),
    "quarto dark": ("light", "", 'class="quarto-dark"', "#222222", "#ffffff"),
    "a white page": ("dark", "", "", "#ffffff", "#000000"),
    "a black page": ("light", "", "", "#111111", "#eeeeee"),
}


def luminance(colour) -> float:
    parts = [c / 255 for c in colour]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two) -> float:
    """The contrast of two colours by WCAG 2."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", PAGES)
def test_verdicts_are_readable_on_every_page(reports, chromium, name):
    """`passed` and `failed` have a contrast of 4.5 on the page, as `plot/theme.rs` says, whatever the system prefers."""
    system, root, body, ground, text = PAGES[name]
    page = chromium.new_page(color_scheme=system)
    cards = page_of(reports["check, passed"]) + page_of(reports["check, one dimension"])
    page.set_content(f'<!doctype html><html {root}><body {body}><div style="background:{ground};color:{text}">{cards}</div></body></html>')
    # A canvas gives every notation of a colour as numbers.
    drawn = """selector => {
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.fillStyle = getComputedStyle(document.querySelector(selector)).color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }"""
    colours = {verdict: page.evaluate(drawn, f".wb-{verdict}") for verdict in ("pass", "fail")}
    page.close()
    on = [int(ground[i : i + 2], 16) for i in (1, 3, 5)]
    assert min(contrast(colour, on) for colour in colours.values()) >= 4.5, colours


# --- Exports of a notebook -------------------------------------------------------------------------------------------------------------------

CELLS = {
    "set up": "import time\nimport numpy as np, workbench as wb\n%load_ext workbench",
    "printf": '%%kernel\n__global__ void hello() { printf("<b>thread</b> %d & more\\n", threadIdx.x); }',
    "printed": "hello[1, 2]()",
    "operator": f'TEXT = """{GELU}"""\ngelu = wb.op("exported::gelu(Tensor x) -> Tensor", TEXT, shape="x[*] -> y[*]")\ngelu',
    "check": 'wb.op("exported::slip(Tensor x) -> Tensor", TEXT.replace("0.044715f", "0.04f"), shape="x[*] -> y[*]", reference=gelu).check(np.linspace(-3, 3, 1000, dtype=np.float32))',
    "bench": "wb.bench({'slow': lambda x: time.sleep(0.01)}, sizes=[1, 2, 4], make_args=np.zeros, seconds_per_size=0.5)",
    "picture": "gelu.check(np.ones(3, np.float32), reference=np.cos).plot()",
    "history": 'gelu = wb.op("exported::gelu(Tensor x) -> Tensor", TEXT.replace("0.5f * x[i]", "x[i] * 0.5f"), shape="x[*] -> y[*]")\ngelu.history',
    "compile error": f'wb.compile("""{BAD}""")',
    "fault": 'wb.compile("__global__ void k(float* y) { y[9] = 1; }").k[1, 1](np.zeros(3, np.float32))',
}


@pytest.fixture(scope="module")
def notebook():
    """A notebook with its outputs, as a kernel stores them."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    made.metadata["language_info"] = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
    nbclient.NotebookClient(made, allow_errors=True, timeout=60, kernel_name="python3").execute()
    return made


def cell(notebook, name):
    return notebook.cells[list(CELLS).index(name)]


def exported(notebook, name, **options):
    exporters = pytest.importorskip("nbconvert.exporters")
    return getattr(exporters, name)(**options).from_notebook_node(notebook)[0]


@pytest.mark.parametrize("template", ["lab", "classic"])
def test_an_exported_page_shows_all_without_scripts(notebook, show, template):
    """`nbconvert --to html`, opened where scripts do not run: every card with its pictures, the printed text, each error with its excerpt."""
    page = show(exported(notebook, "HTMLExporter", template_name=template))
    cards = page.locator(".wb-card")
    assert cards.count() == 4
    pictures = page.locator(".wb-card > svg")
    sizes = [pictures.nth(i).bounding_box() for i in range(pictures.count())]
    assert len(sizes) >= 5 and all(size["width"] > 40 and size["height"] > 15 for size in sizes)
    text = page.locator("body").inner_text()
    for shown in ("<b>thread</b> 1 & more", "exported::slip beside its reference", "908 of 1000", "unknown name `missing`", "unknown name `absent`", "y[1] = absent;"):
        assert shown in text, shown
    assert "writes index 9 of `y`, which has 3 elements" in text and "launch     one thread per element" in text


@pytest.mark.parametrize("kind", ["check, three dimensions", "sweep", "history", "bench"])
def test_a_printed_card_lacks_nothing(reports, show, kind):
    """On a sheet of Letter (`nbconvert --to webpdf`) no column of a table is cut off, and the numbers that a page folds away are there."""
    page = show(page_of(reports[kind]), media="print", width=612)
    for box in page.locator(".wb-scroll").all():
        assert box.is_visible()
        inner, outer = box.locator("> *").first.bounding_box(), box.bounding_box()
        assert inner["width"] <= outer["width"] + 1


def test_a_script_has_the_kernel_as_it_was_written(notebook):
    """`nbconvert --to script` keeps the text of a `%%kernel` cell."""
    script = exported(notebook, "PythonExporter")
    calls = []

    class Shell:
        def run_cell_magic(self, *args):
            calls.append(args)

        def run_line_magic(self, *args):
            pass

    line = next(line for line in script.splitlines() if "run_cell_magic" in line)
    exec(line, {"get_ipython": Shell})
    assert calls == [("kernel", "", CELLS["printf"].partition("\n")[2] + "\n")]


def in_markdown(page: str) -> str:
    mistune = pytest.importorskip("mistune")
    return mistune.create_markdown(escape=False)(f"before\n\n{page}\n\nafter\n")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "history"])
def test_a_card_survives_markdown(reports, kind):
    """`nbconvert --to markdown` writes the card into the text; a renderer of Markdown gives it back as it was."""
    page = page_of(reports[kind])
    assert page.strip() in in_markdown(page)


def test_a_history_survives_markdown(reports):
    """The texts in a history are not read as Markdown."""
    page = page_of(reports["history"])
    assert words(page).strip() in words(in_markdown(page)) and "<em>" not in in_markdown(page)


def test_a_line_of_progress_is_a_text_as_well(notebook):
    """In text alone (`nbconvert --to pdf`, Jupyter's console) a long benchmark leaves its line or nothing, but no repr of an object of IPython's."""
    plain = [output["data"]["text/plain"] for output in cell(notebook, "bench").outputs if output.output_type == "display_data"]
    assert plain and not any("<IPython" in text for text in plain)


def test_a_line_of_progress_leaves_an_exported_page(notebook):
    """What is left of the line of progress is empty, so a page shows the report alone."""
    outputs = cell(notebook, "bench").outputs
    left = [output["data"]["text/html"] for output in outputs if output.output_type == "display_data"]
    assert left == [""] and outputs[-1].output_type == "execute_result"


def test_errors_are_stored_with_their_excerpts(notebook):
    """An error's traceback is its text: VS Code, nbclassic and exports show it from the file."""
    drawn = "\n".join(cell(notebook, "compile error").outputs[0].traceback)
    assert drawn.count("unknown name") == 2 and "2 |     y[0] = missing;" in drawn and "3 |     y[1] = absent;" in drawn
    fault = "\n".join(cell(notebook, "fault").outputs[0].traceback)
    assert "out-of-bounds write in `k`" in fault and "^^^^ writes index 9 of `y`, which has 3 elements" in fault


# --- marimo ----------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def formatted():
    """What marimo shows of a value: a kind of content, and the content."""
    formatting = pytest.importorskip("marimo._output.formatting")

    def formatted(value):
        shown = formatting.try_format(value)
        assert shown.traceback is None, shown.traceback
        data = shown.data
        return data["text/html"] if isinstance(data, dict) else data

    return formatted


@pytest.mark.parametrize("kind", KINDS)
def test_marimo_shows_reports_as_cards(reports, formatted, kind):
    """A report as the last value of a cell of marimo's is the card that it is in Jupyter."""
    shown, page = formatted(reports[kind]), page_of(reports[kind])
    # Each card's slider has a name of its own.
    assert re.sub(r"wb-slider-\d+-\d+", "", shown) == re.sub(r"wb-slider-\d+-\d+", "", page)


def test_marimo_shows_pictures_and_errors(reports, formatted):
    """A picture and an exception that was caught show themselves."""
    assert "<svg" in formatted(reports["check, one dimension"].plot())
    with pytest.raises(wb.CompileError) as caught:
        wb.compile(BAD)
    assert "missing" in formatted(caught.value) and "WB0301" in formatted(caught.value)


def test_marimo_describes_operators(formatted):
    """An operator as the last value of a cell is described: its kernel, launch, shape and gradient."""
    shown = words(formatted(operator("described")))
    assert all(part in shown for part in ("kernel", "launch", "shape", "gradient"))


def test_marimo_is_a_place_for_progress(monkeypatch):
    """What takes longer than a second tells how far it is, in a cell of marimo's too."""
    marimo = pytest.importorskip("marimo")
    from workbench import _progress

    monkeypatch.setattr(marimo, "running_in_notebook", lambda: True)
    assert _progress._place() is not None


def test_a_notebook_of_marimo_exports_what_it_shows(tmp_path):
    """`marimo export html` of a notebook without magics: the card, the printed text, an error with all of its messages."""
    pytest.importorskip("marimo")
    cells = [
        "import numpy as np, workbench as wb",
        'wb.compile(\'__global__ void hello() { printf("thread %d\\\\n", threadIdx.x); }\').hello[1, 2]()',
        f'op = wb.op("exported::twice(Tensor x) -> Tensor", "{TWICE}", shape="x[n] -> y[n]", reference=lambda x: 3 * x)\nop.check(np.ones(4, np.float32))',
        f'wb.compile("""{BAD}""")',
    ]
    names = ["", "wb", "np, wb", "wb"]
    bodies = [cell.replace("\n", "\n    ") + ("\n    return np, wb" if i == 0 else "\n    return") for i, cell in enumerate(cells)]
    text = "import marimo\n\napp = marimo.App()\n" + "".join(f"\n\n@app.cell\ndef _({args}):\n    {body}\n" for args, body in zip(names, bodies))
    (tmp_path / "notebook.py").write_text(text)
    command = [sys.executable, "-m", "marimo", "export", "html", "notebook.py", "-o", "page.html"]
    # It returns 1, since a cell fails.
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={**os.environ, "MARIMO_SKIP_UPDATE_CHECK": "1"})
    assert "unknown name `missing`" in done.stderr and "unknown name `absent`" in done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "exported::twice beside its reference" in page and "thread 0" in page and "y[1] = absent;" in page


# --- Terminals and files ---------------------------------------------------------------------------------------------------------------------

SLOW = """
import time
import numpy as np, workbench as wb
def slow(x):
    time.sleep(0.01)
print("before")
wb.bench({"slow": slow, "another contestant with a long name": slow}, sizes=[1, 2], make_args=np.zeros, seconds_per_size=0.9)
print("after")
"""


def in_terminal(code: str, columns: int) -> str:
    """What a terminal of some width gets from a Python that runs a text."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"}
    process = subprocess.Popen([sys.executable, "-c", code], stdin=follower, stdout=follower, stderr=follower, env=environment, close_fds=True)
    os.close(follower)
    got, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            got += part
        elif process.poll() is not None:
            break
    process.wait(10)
    os.close(leader)
    return got.decode()


@pytest.fixture(scope="module")
def narrow():
    return in_terminal(SLOW, 60)


def test_the_line_of_progress_leaves_a_terminal(narrow):
    """The line is written over itself, and is gone in the end: `after` stands where it began."""
    assert re.search(r"before\r\n\r\d  \d/2 sizes  slow ", narrow)
    assert narrow.endswith("\r\x1b[Kafter\r\n")


def test_the_line_of_progress_fits_the_terminal(narrow):
    """A line is never longer than the terminal is wide: `\\r` goes to the begin of the last row alone."""
    lines = [line.removesuffix("\x1b[K") for line in narrow.split("\r") if "sizes" in line]
    assert lines and max(map(len, lines)) < 60


def test_a_file_gets_no_progress_and_no_escapes():
    """Output that goes to files is plain text."""
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("before\nafter\n", "")


def test_no_color_is_honoured():
    """With NO_COLOR an error in a terminal has no escape sequences."""
    shown = in_terminal(f"import workbench as wb\nwb.compile({BAD!r})", 100)
    assert "CompileError" in shown and "y[0] = missing;" in shown and "\x1b" not in shown


def test_a_script_shows_the_first_error_with_its_place():
    """Python draws a `CompileError` as a SyntaxError of the kernel's text: line, caret, message."""
    done = subprocess.run([sys.executable, "-c", f"import workbench as wb\nwb.compile({BAD!r})"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "y[0] = missing;")
    assert lines[at - 1].endswith("line 2") and lines[at + 1].index("^") == lines[at].index("missing")
    assert "unknown name `missing`" in lines[at + 2]


def test_a_script_shows_every_error():
    """The README's table: a `CompileError` is every error with its line. In a script, too, where Python draws it."""
    done = subprocess.run([sys.executable, "-c", f"import workbench as wb\nwb.compile({BAD!r})"], capture_output=True, text=True, timeout=60)
    assert "unknown name `absent`" in done.stderr and "y[1] = absent;" in done.stderr


def test_the_package_needs_no_notebook():
    """Neither IPython nor marimo nor `google.colab` is imported by the package."""
    code = "import sys, workbench as wb; wb.compile('__global__ void k() { }'); print([name for name in ('IPython', 'marimo', 'google.colab') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
    assert importlib.util.find_spec("workbench") is not None
