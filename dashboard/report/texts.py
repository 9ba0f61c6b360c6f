"""Numbers and texts of pictures as SVG has them."""

import math
import re
from html import escape, unescape

from dashboard.wording.numbers import MINUS

_TAG = re.compile(r"<(/?)(b|br|span)(?: style=\"([^\"]*)\")?/?>")
_FORMAT = re.compile(r"\.(\d+)~([%g])")


def number(value: float) -> str:
    """Write a place on a picture: two decimals are enough."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"


def tick_text(value: float, how: str) -> str:
    """Write the value of a tick.

    ``value``: the value. ``how``: of d3's formats, those that the figures use: ``.3~%``, ``.1~%``
    and ``.3~g``.

    Examples
    --------
    >>> tick_text(0.2, ".3~%"), tick_text(0.8218, ".1~%"), tick_text(1.5, ".3~g")
    ('20%', '82.2%', '1.5')
    """
    found = _FORMAT.fullmatch(how)
    if found is None:
        raise ValueError(how)
    digits, kind = int(found[1]), found[2]
    scaled = 100 * value if kind == "%" else value
    if kind == "%":
        written = f"{scaled:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{scaled:.0f}"
    else:
        written = f"{scaled:.{digits}g}"
    written = "0" if float(written) == 0 else written
    return written.replace("-", MINUS) + ("%" if kind == "%" else "")


def text_lines(text: str) -> list[str]:
    """Return the lines of a text of plotly's, whose bold and colours become SVG's.

    Examples
    --------
    >>> text_lines('<span style="color:#123456">a <b>b</b></span><br>1 &lt; 2')
    ['<tspan fill="#123456">a <tspan font-weight="700">b</tspan></tspan>', '1 &lt; 2']
    """
    lines, open_tags, done = [""], list[str](), 0
    for tag in _TAG.finditer(text):
        lines[-1] += _said(text[done : tag.start()])
        done = tag.end()
        closes, name, style = tag.groups()
        if name == "br":
            lines[-1] += "</tspan>" * len(open_tags)
            lines.append("".join(open_tags))
        elif closes:
            open_tags.pop()
            lines[-1] += "</tspan>"
        else:
            open_tags.append(_opened(name, style or ""))
            lines[-1] += open_tags[-1]
    lines[-1] += _said(text[done:])
    return lines


def _opened(name: str, style: str) -> str:
    if name == "b":
        return '<tspan font-weight="700">'
    colour = style.partition("color:")[2].partition(";")[0].strip()
    return f'<tspan fill="{escape(colour)}">' if colour else "<tspan>"


def _said(text: str) -> str:
    return escape(unescape(text), quote=False)
