"""`workbench.language_service`: offsets in characters, options, and what comes back; the answers themselves are tested in Rust."""

from __future__ import annotations

import pytest

from workbench import language_service

SOURCE = "// größe 🙂\n__global__ void fill(float4* rows, int count) {\n    rows[count]. = fmaf(1, 2, 3);\n}\n"


def test_offsets_count_characters():
    found = language_service.complete(SOURCE, SOURCE.index(". =") + 1)
    assert (found.start, found.end) == (SOURCE.index(". =") + 1,) * 2
    assert [item.name for item in found.items] == ["w", "x", "y", "z"]
    assert found.items[0] == language_service.Completion("w", "field", "float w", "")
    at = SOURCE.index("count]")
    meaning = language_service.hover(SOURCE, at + 2)
    assert meaning is not None and SOURCE[meaning.start : meaning.end] == "count"
    assert meaning.declarations == ["int count"] and meaning.declared == (SOURCE.index("count)"), SOURCE.index("count)") + 5)


def test_a_call_has_its_argument():
    call = language_service.signature_help(SOURCE, SOURCE.index(" 3)"))
    assert call is not None and call.active_parameter == 2
    signature = call.signatures[call.active_signature]
    assert signature.declaration == "float fmaf(float, float, float)"
    assert [signature.declaration[start:end] for start, end in signature.parameters] == ["float"] * 3


def test_problems_have_replacements_that_mend_them():
    source = SOURCE.replace(". =", ".x =").replace("rows[count]", "rows[conut]")
    (problem,) = language_service.problems(source)
    assert source[problem.start : problem.end] == "conut" and problem.severity == "error" and problem.code == "WB0301"
    change = problem.replacement
    assert change is not None
    assert language_service.problems(source[: change.start] + change.text + source[change.end :]) == []


def test_defines_and_headers_count():
    source = '#include "mine.h"\n__global__ void k(int* out) { out[0] = WIDTH + offset(); }\n'
    assert language_service.problems(source) != []
    options = {"defines": {"WIDTH": 4}, "headers": {"mine.h": "__device__ int offset() { return 1; }"}}
    assert language_service.problems(source, **options) == []
    at = source.index("offset()") + 3
    names = [item.name for item in language_service.complete(source, at, **options).items]
    assert "offset" in names


@pytest.mark.parametrize("offset", [-5, 0, 10_000])
def test_any_offset_is_answered(offset):
    assert isinstance(language_service.complete(SOURCE, offset), language_service.Completions)
    assert language_service.hover("", offset) is None and language_service.signature_help("", offset) is None
