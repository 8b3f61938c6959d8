"""Pictures as PNG, by the package resvg-py, with words in a font that is there."""

from __future__ import annotations

import functools
import importlib.util
import pathlib
import re
import warnings
from typing import Any, Iterator

__all__ = ["png_of"]

#: Pixels of the file for one of the picture.
_ZOOM = 2.0
#: Families that stand for the generic ones, sans-serif and monospace; systems without those of Windows and macOS mostly have one of the first three.
_FAMILIES = (
    ("DejaVu Sans", "DejaVu Sans Mono"),
    ("Liberation Sans", "Liberation Mono"),
    ("Noto Sans", "Noto Sans Mono"),
    ("Arial", "Courier New"),
    ("FreeSans", "FreeMono"),
)


def png_of(svg: str) -> bytes:
    """The PNG of an SVG text, with a transparent ground. Raises ImportError where resvg-py is not installed; warns where no font is found, as words
    are missing then."""
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        if error.name != "resvg_py":
            raise
        raise ImportError("resvg-py is not installed; `pip install resvg-py` installs it, and .svg needs no package") from None
    found = re.search("font-family:([^;}]+)", svg)
    options = _fonts(found[1]) if found is not None else {}
    if options is None:
        warnings.warn("no font was found, so the PNG has no words; `pip install matplotlib` or `apt install fonts-dejavu-core` brings one", stacklevel=2)
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM, **(options or {})))


@functools.cache
def _fonts(families: str) -> dict[str, Any] | None:
    """Options by which a text of these families is drawn; None where no font is there. resvg draws nothing where it has no font."""
    import resvg_py

    def drawn(text: str, options: dict[str, Any]) -> bytes:
        shown = f'<text x="1" y="15" font-size="14" style="font-family:{families}">{text}</text>'
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20">{shown}</svg>'
        return bytes(resvg_py.svg_to_bytes(svg_string=picture, **options))

    return next((options for options in _choices() if drawn("words", options) != drawn("", options)), None)


def _choices() -> Iterator[dict[str, Any]]:
    for sans, mono in _FAMILIES:
        yield {"sans_serif_family": sans, "monospace_family": mono}
    matplotlib = importlib.util.find_spec("matplotlib")
    for folder in (matplotlib and matplotlib.submodule_search_locations) or ():
        # matplotlib brings DejaVu.
        own = pathlib.Path(folder, "mpl-data", "fonts", "ttf")
        yield {"sans_serif_family": "DejaVu Sans", "monospace_family": "DejaVu Sans Mono", "font_dirs": [str(own)]}
