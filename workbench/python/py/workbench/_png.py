"""Pictures as PNG, by the package resvg-py."""

from __future__ import annotations

__all__ = ["png_of"]

#: Pixels of the file for one of the picture.
_ZOOM = 2.0


def png_of(svg: str) -> bytes:
    """The PNG of an SVG text, with a transparent ground. Raises ImportError where resvg-py is not installed."""
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        if error.name != "resvg_py":
            raise
        raise ImportError("resvg-py is not installed; `pip install resvg-py` installs it, and .svg needs no package") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))
