"""A figure: save it in analysis/scanlab_report/chapters/, and name it in ORDER of that folder's
__init__.py."""

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.groups import BEST, CEILING
from scanlab_report.looks import look
from scanlab_report.pick import scans, shares
from scanlab_report.shown import Shown, figure, shown


@figure("scans", follows=("type", "op"))
def share_of_copy(data: Data) -> Shown:
    """Speed of the fastest scan as a share of a device copy, against array size."""
    cases = scans(data, all_of=(CEILING, BEST))
    rows = shares(cases, BEST, CEILING, cache="cold")
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    marks.items_axis(axes, rows["items"])
    marks.curve(axes, rows, "items", look(BEST, data.variants), y="ratio")
    axes.set_ylabel("share of a copy")
    return shown(data, drawn, "Speed as a share of a device copy. Bars: 95% intervals.", cases)
