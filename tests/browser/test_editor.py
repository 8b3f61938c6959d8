"""CUDA C++ in cells of JupyterLab: highlighting, problems with quick fixes, completion, meanings."""

from __future__ import annotations

from playwright.sync_api import expect

LOAD = "%load_ext workbench\nimport workbench as wb"
SCALE = (
    "%%kernel\n// Scales the elements of x.\n__global__ void scale(float* x, float f, int count) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < count) x[i] = f * x[i];\n}"
)


def classes(lab, cell: int, word: str) -> set[str]:
    """The classes of the token that is `word`, those of what it lies in included."""
    found = lab.cell(cell).get_by_text(word, exact=True).first
    expect(found).to_be_visible()
    return set(found.evaluate("e => { let all = []; for (; !e.classList.contains('cm-line'); e = e.parentElement) all.push(...e.classList); return all; }"))


def test_cuda_is_highlighted_in_cells_and_strings(themed):
    string = 'm = wb.compile(r"""\n__global__ void twice(int* x) { // two\n    x[threadIdx.x] *= 2;\n}""")\nfor each in []:  # a comment\n    pass'
    themed.open(LOAD, SCALE, string, "for each in []:  # another\n    pass")
    keyword, comment = classes(themed, 3, "for"), classes(themed, 3, "# another")
    assert keyword and comment and keyword != comment
    expect(themed.cell(1).locator(".cm-cuda-specifier")).to_have_text("__global__")
    for cell in (1, 2):
        assert keyword <= classes(themed, cell, "__global__")
    assert keyword <= classes(themed, 1, "if") and keyword <= classes(themed, 2, "for")
    assert comment <= classes(themed, 1, "// Scales the elements of x.")
    assert comment <= classes(themed, 2, "// two") and comment <= classes(themed, 2, "# a comment")
    assert themed.cell(1).locator(".cm-cuda-variable").all_inner_texts() == ["blockIdx", "blockDim", "threadIdx"]
    assert themed.cell(1).locator(".cm-cuda-type").all_inner_texts() == ["void", "float", "float", "int", "int"]
    themed.picture(f"highlighting-{themed.theme}")


def test_words_of_cuda_in_comments_and_other_cells_are_not_marked(lab):
    lab.open('x = "threadIdx"  # __global__', "%%kernel\n// __global__ threadIdx\n__device__ int f() { return 0; }", "%%time\nthreadIdx = 1")
    expect(lab.cell(1).locator(".cm-cuda-specifier")).to_have_text("__device__")
    assert lab.page.locator(".cm-cuda-variable").count() == 0
    # The language follows the text.
    lab.cell(2).click()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.insert_text("%%kernel\n__device__ int g() { return threadIdx.x; }")
    expect(lab.cell(2).locator(".cm-cuda-variable")).to_have_text("threadIdx")
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.insert_text("threadIdx = 1")
    expect(lab.cell(2).locator(".cm-cuda-variable")).to_have_count(0)


def test_a_problem_is_drawn_while_typing_and_its_fix_mends_it(themed):
    themed.open(LOAD, SCALE.replace("threadIdx", "threadidx"), "import time\ntime.sleep(4)")
    themed.run(0)
    themed.end_of(1)
    themed.page.keyboard.type(" ")
    problem = themed.cell(1).locator(".cm-lintRange-error")
    expect(problem).to_have_text("threadidx")
    themed.run(2, wait=False)
    problem.hover()
    shown = themed.page.locator(".cm-tooltip-lint")
    expect(shown).to_contain_text("unknown name threadidx")
    expect(shown).to_contain_text("WB0301")
    themed.picture(f"problem-{themed.theme}")
    # The end of a cell has all checked again. What is shown stays, as the problem is the same.
    expect(themed.prompt(2)).to_have_text("[2]:")
    themed.page.wait_for_timeout(1500)
    shown.get_by_role("button", name="Write threadIdx").click()
    expect(themed.cell(1).locator(".cm-lintRange-error")).to_have_count(0)
    assert "threadIdx.x;" in themed.text(1) and "threadidx" not in themed.text(1)
    themed.run(1)
    expect(themed.output(1)).not_to_contain_text("error")


def test_problems_wait_for_the_kernel_to_know_them(lab):
    lab.open(LOAD, SCALE.replace("threadIdx", "threadidx"), "import os, time\nwhile not os.path.exists('go'): time.sleep(0.1)")
    lab.end_of(1)
    lab.page.keyboard.type(" ")
    lab.page.wait_for_timeout(1000)
    assert lab.cell(1).locator(".cm-lintRange-error").count() == 0
    # Once a cell has loaded it, all cells are checked, edited or not.
    lab.run(0)
    expect(lab.cell(1).locator(".cm-lintRange-error")).to_have_text("threadidx")
    # While a cell runs the marks stay. What was typed meanwhile is checked afterwards, or at once where the kernel has a subshell for comms.
    lab.run(2, wait=False)
    expect(lab.prompt(2)).to_have_text("[*]:")
    lab.end_of(1)
    lab.page.keyboard.type("\n__device__ int f() { return blockidx.x; }")
    lab.page.wait_for_timeout(1000)
    expect(lab.cell(1).locator(".cm-lintRange-error").first).to_have_text("threadidx")
    (lab.folder / "go").touch()
    lab.ended(2)
    expect(lab.cell(1).locator(".cm-lintRange-error")).to_have_text(["threadidx", "blockidx"])
    # A new kernel has another comm.
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("0")
    lab.page.keyboard.press("0")
    lab.page.get_by_role("button", name="Confirm Kernel Restart").click()
    lab.page.wait_for_timeout(500)
    lab.ready()
    lab.run(0)
    expect(lab.cell(1).locator(".cm-lintRange-error")).to_have_text(["threadidx", "blockidx"])


def test_names_complete_in_cells(lab):
    lab.open(LOAD, "%%kernel\n__global__ void fill(float4* rows, int count) {\n    \n}")
    lab.run(0)
    lab.end_of(1, back=2)
    lab.page.keyboard.type("__sync")
    lab.page.keyboard.press("Tab")
    offered = lab.page.locator(".jp-Completer")
    expect(offered).to_contain_text("__syncthreads")
    # The panel beside the names says what the first one means.
    expect(lab.page.locator(".jp-Completer-docpanel")).to_contain_text("void __syncthreads()")
    lab.picture("completion-light")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.type("();\n    rows[count].")
    assert "    __syncthreads();" in lab.text(1)
    lab.page.keyboard.press("Tab")
    expect(offered.locator(".jp-Completer-item")).to_have_count(4)
    lab.page.keyboard.press("Escape")


def test_a_name_under_the_mouse_is_explained(themed):
    themed.open(LOAD, SCALE.replace("f * x[i]", "fmaf(f, x[i], 0.0f)"))
    themed.run(0)
    themed.page.mouse.move(*themed.place(1, "fmaf"))
    shown = themed.page.locator(".cm-cuda-hover")
    expect(shown).to_contain_text("float fmaf(float, float, float)")
    themed.picture(f"meaning-{themed.theme}")


def test_a_call_is_explained_by_shift_tab(lab):
    lab.open(LOAD, SCALE.replace("f * x[i]", "fmaf(f, "))
    lab.run(0)
    lab.page.mouse.click(*lab.place(1, "fmaf"))
    lab.page.keyboard.press("End")
    lab.page.keyboard.press("ArrowLeft")
    lab.page.keyboard.press("Shift+Tab")
    expect(lab.page.locator(".jp-Tooltip")).to_contain_text("float fmaf(float, float, float)")
