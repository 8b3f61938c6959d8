"""The editor of a notebook: completion, inspection and problems of CUDA C++ in cells.

Completion goes through IPython's completer, so every front end has it: JupyterLab, VS Code, a terminal. Inspection (Shift-Tab, and the panel
beside completions) goes through the kernel's `do_inspect`. What the extension for JupyterLab asks while a cell is edited, problems and the
meaning of a name, comes by a comm, whose target is `TARGET`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from . import language_service
from ._shell import running_shell
from .cells import CudaText, cuda_texts, magic_line_at, MAGICS

__all__ = ["TARGET", "answer", "install", "install_here", "uninstall"]

#: The target of the comm.
TARGET = "workbench.language_service"

#: The kinds of names as IPython and Jupyter call them.
_TYPES = {"field": "property", "type": "class", "constant": "const", "variable": "instance", "method": "function", "macro": "const"}


def _text_at(cell: str, offset: int) -> CudaText | None:
    return next((text for text in cuda_texts(cell) if text.start <= offset <= text.end), None)


def _complete(context: Any, space: Mapping[str, Any]) -> dict[str, Any]:
    """Completions of a cell, for `IPCompleter.custom_matchers`; `space` are the notebook's names."""
    from IPython.core.completer import SimpleCompletion

    from .magic_completion import complete_line

    cell = context.full_text
    offset = sum(len(line) + 1 for line in cell.split("\n")[: context.cursor_line]) + context.cursor_position
    words = complete_line(cell, offset, space)
    if words is not None:
        made = [SimpleCompletion(word, type="param" if word.startswith("-") else "instance") for word in words.words]
        return {"completions": made, "matched_fragment": words.fragment, "suppress": words.is_all, "ordered": True}
    text = _text_at(cell, offset)
    if text is None:
        return {"completions": []}
    source = cell[text.start : text.end]
    found = language_service.complete(source, offset - text.start, defines=text.defines)
    fragment = source[found.start : found.end]
    items = [SimpleCompletion(item.name, type=_TYPES.get(item.kind, item.kind)) for item in found.items]
    # Python's names mean nothing here, but IPython leaves them out only where there are others.
    if not items and fragment:
        items = [SimpleCompletion(fragment, type="text")]
    return {
        "completions": items,
        "matched_fragment": fragment,
        "suppress": True,
        "ordered": True,
    }


def _described(cell: str, offset: int) -> tuple[str, str] | None:
    """The meaning of a name at a place, or the function that is called there: as plain text and as Markdown."""
    # JupyterLab asks about a completion with a cursor behind the end of the text.
    offset = min(offset, len(cell))
    text = _text_at(cell, offset)
    if text is None:
        return None
    source, at = cell[text.start : text.end], offset - text.start
    meaning = language_service.hover(source, at, defines=text.defines)
    if meaning is not None:
        return _shown(meaning.declarations, meaning.documentation)
    call = language_service.signature_help(source, at, defines=text.defines)
    if call is None:
        return None
    first = call.active_signature
    shown = [call.signatures[first], *call.signatures[:first], *call.signatures[first + 1 :]]
    parameters = shown[0].parameters
    documentation = call.documentation
    if call.active_parameter < len(parameters):
        start, end = parameters[call.active_parameter]
        argument = f"Argument {call.active_parameter + 1}: `{shown[0].declaration[start:end]}`"
        documentation = f"{argument}\n\n{documentation}" if documentation else argument
    return _shown([signature.declaration for signature in shown], documentation)


def _helped(cell: str, offset: int) -> tuple[str, str] | None:
    """The help of the magic or of the option at a place: as plain text and as Markdown."""
    from .magic_completion import help_at

    shown = help_at(cell, offset)
    return None if shown is None else (shown, f"```text\n{shown}\n```")


def _is_in_line(cell: str, offset: int) -> bool:
    """True in the line of a magic, which may be the end of a cell."""
    return magic_line_at(cell, offset, MAGICS) is not None


def _shown(declarations: list[str], documentation: str) -> tuple[str, str]:
    plain = "\n".join([*declarations, *([documentation] if documentation else [])])
    code = "```cpp\n" + "\n".join(declarations) + "\n```\n\n" if declarations else ""
    return plain, code + documentation


def _utf16(cell: str) -> Callable[[int], int]:
    """Offsets in the units of JavaScript's strings, of offsets in characters."""
    if cell.isascii() or max(cell) < "\U00010000":
        return lambda offset: offset
    return lambda offset: offset + sum(char >= "\U00010000" for char in cell[:offset])


def _from_utf16(cell: str, offset: int) -> int:
    units = cell.encode("utf-16-le")[: 2 * max(offset, 0)]
    return len(units.decode("utf-16-le", errors="ignore"))


def _problems(cell: str) -> list[dict[str, Any]]:
    unit = _utf16(cell)
    shown = []
    for text in cuda_texts(cell):
        if not text.is_whole:
            continue
        source = cell[text.start : text.end]
        for problem in language_service.problems(source, defines=text.defines):
            change = problem.replacement
            shown.append(
                {
                    "from": unit(text.start + problem.start),
                    "to": unit(text.start + problem.end),
                    "severity": problem.severity,
                    "code": problem.code,
                    "message": problem.message,
                    "help": problem.help,
                    "replacement": change
                    and {"from": unit(text.start + change.start), "to": unit(text.start + change.end), "text": change.text},
                }
            )
    return shown


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message of the comm. Its places are in UTF-16 units, as JavaScript counts them.

    `{"id", "request": "problems", "cell"}` gives `{"id", "problems": [...]}`; `{"id", "request": "hover", "cell", "offset"}` gives
    `{"id", "hover": Markdown or None}`. Another request gives `{"id", "error"}`.
    """
    reply: dict[str, Any] = {"id": question.get("id")}
    request, cell = question.get("request"), str(question.get("cell", ""))
    if request == "problems":
        return {**reply, "problems": _problems(cell)}
    if request == "hover":
        described = _described(cell, _from_utf16(cell, int(question.get("offset", 0))))
        return {**reply, "hover": described and described[1]}
    return {**reply, "error": f"there is no request {request!r}"}


def _opened(comm: Any, _message: Any) -> None:
    comm.on_msg(lambda message: comm.send(answer(message["content"]["data"])))


class _Inspect:
    """`do_inspect` of a kernel: CUDA C++ first, then as before."""

    def __init__(self, before: Callable[..., Any]) -> None:
        self.before = before

    def __call__(self, code: str, cursor_pos: int, *args: Any, **kwargs: Any) -> Any:
        described = _helped(code, min(cursor_pos, len(code))) or _described(code, cursor_pos)
        if described is None:
            offset = min(cursor_pos, len(code))
            if _text_at(code, offset) is not None and not _is_in_line(code, offset):
                return {"status": "ok", "found": False, "data": {}, "metadata": {}}
            return self.before(code, cursor_pos, *args, **kwargs)
        data = {"text/plain": described[0], "text/markdown": described[1]}
        return {"status": "ok", "found": True, "data": data, "metadata": {}}


def install(shell: Any) -> None:
    """Adds completion to a shell, and inspection and the comm to its kernel."""
    completer = getattr(shell, "Completer", None)
    if completer is not None and hasattr(completer, "custom_matchers"):
        from IPython.core.completer import context_matcher

        matcher = context_matcher(identifier="workbench", priority=100)(lambda context: _complete(context, shell.user_ns))
        if not any(getattr(known, "matcher_identifier", None) == "workbench" for known in completer.custom_matchers):
            completer.custom_matchers.insert(0, matcher)
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return
    if not isinstance(kernel.do_inspect, _Inspect):
        kernel.do_inspect = _Inspect(kernel.do_inspect)
    manager = getattr(kernel, "comm_manager", None)
    if manager is not None:
        manager.register_target(TARGET, _opened)


def install_here() -> None:
    """Installs it in the notebook or terminal that imports the package, if it is one."""
    shell = running_shell()
    if shell is not None:
        install(shell)


def uninstall(shell: Any) -> None:
    """Takes it back."""
    completer = getattr(shell, "Completer", None)
    for known in list(getattr(completer, "custom_matchers", ())):
        if getattr(known, "matcher_identifier", None) == "workbench":
            completer.custom_matchers.remove(known)
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return
    if isinstance(kernel.do_inspect, _Inspect):
        del kernel.do_inspect
    manager = getattr(kernel, "comm_manager", None)
    if manager is not None and manager.targets.get(TARGET) is _opened:
        manager.unregister_target(TARGET, _opened)
