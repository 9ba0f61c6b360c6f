"""Workbooks of spreadsheets: one sheet, or a sheet a set."""

import posixpath
from dataclasses import replace

from dashboard.readers.binary.archive import Archive, open_archive
from dashboard.readers.columns.roles import further_sets, role_of
from dashboard.readers.columns.table_columns import both_sets
from dashboard.readers.contents import DEFAULTS, Contents, Options
from dashboard.readers.refusal import FileError, plain, quoted
from dashboard.readers.sheets.xlsx_parts import XML, Named, Strings, Styles, Work
from dashboard.readers.sheets.xlsx_sheet import Sheet

_OLD = b"\xd0\xcf\x11\xe0"
_MAX_SHEETS = 64
_MAX_MEMBERS = 2_000
_TIMES = 30
_SPARE_BYTES = 8 << 20
_WANTED = "an .xlsx workbook as a spreadsheet program saves it"


def read_xlsx(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read the first sheet that holds a table, or the two that are named after the sets.

    Notes
    -----
    Hidden sheets are read only where no other holds a table.

    The saved values of formulas are used, and nothing is computed. Links to other files, macros,
    charts and formats are not read.
    """
    if data.startswith(_OLD):
        found = "a workbook with a password, or an old .xls file"
        raise FileError("file", found, "an .xlsx file without a password")
    # What is read of a workbook is bounded by the work that it is.
    archive = open_archive(
        data, ".xlsx", folders=True, most=_MAX_MEMBERS, times=_TIMES, most_deflated=None
    )
    xml = sum(part.size for part in archive.members.values() if part.name.endswith(XML))
    if xml > _TIMES * len(data) + _SPARE_BYTES:
        found = f"{xml >> 20:,} MB of sheets and texts in a file of {len(data):,} bytes, too large"
        raise FileError("workbook", found, "a sheet of fewer rows (size limit)")
    macros = next((name for name in archive.members if name.lower().endswith("vbaproject.bin")), "")
    if macros:
        raise FileError("workbook", "macros", "a workbook without macros, saved as .xlsx")
    book = _Book(archive, options)
    seen = [title for title in book.sheets if title not in book.hidden]
    further = further_sets(seen)
    of_sets = [(role_of(title)[0], title) for title in seen if title not in further]
    pair = {role: title for role, title in of_sets if role != "rows"}
    if len(pair) == 2 == sum(role != "rows" for role, _ in of_sets):
        titles = [pair["calibration"], pair["test"]]
        return book.noted(both_sets(*map(book.read, titles)), *titles)
    return book.first()


class _Book:
    """The sheets of a workbook by title, and what their cells refer to."""

    def __init__(self, archive: Archive, options: Options) -> None:
        self.archive = archive
        self.options = options
        self.work = Work()
        book = next(
            iter(_targets(archive, self.work, "", "officeDocument").values()), "xl/workbook.xml"
        )
        listed = Named(archive, book, self.work, "sheet")
        listed.read()
        paths = _targets(archive, self.work, book, "worksheet")
        self.sheets = {
            sheet.get("name", ""): paths[sheet.get("id", "")]
            for sheet in listed.found
            if sheet.get("id", "") in paths
        }
        self.hidden = {
            sheet.get("name", "")
            for sheet in listed.found
            if sheet.get("state", "visible") != "visible"
        }
        if not 0 < len(set(self.sheets.values())) == len(self.sheets) <= _MAX_SHEETS:
            raise FileError(
                "workbook", f"{len(self.sheets):,} sheets", f"up to {_MAX_SHEETS} different"
            )
        self.strings: list[str] = []
        for path in _targets(archive, self.work, book, "sharedStrings").values():
            strings = Strings(archive, path, self.work)
            strings.read()
            self.strings = strings.strings
        self.dates: set[str] = set()
        for path in _targets(archive, self.work, book, "styles").values():
            styles = Styles(archive, path, self.work)
            styles.read()
            self.dates = styles.of_dates

    def read(self, title: str) -> Contents:
        """Read the table of one sheet."""
        sheet = Sheet(
            self.archive,
            self.sheets[title],
            self.work,
            strings=self.strings,
            dates=self.dates,
            header=self.options.header,
        )
        try:
            sheet.read()
            return sheet.contents(self.options)
        except FileError as error:
            raise FileError.at(f"sheet {quoted(title, 30)},", error) from error

    def first(self) -> Contents:
        """Read the first sheet that has a header with classes or labels, and rows."""
        refusal: FileError | None = None
        for title in sorted(self.sheets, key=self.hidden.__contains__):
            try:
                return self.noted(self.read(title), title)
            except FileError as error:
                # What is wrong below a header is to be mended, not passed over.
                if not error.field.endswith(", header"):
                    raise
                refusal = refusal or error
        raise refusal or FileError("workbook", "no sheets", _WANTED)

    def noted(self, contents: Contents, *used: str) -> Contents:
        """Say which sheets were used and which were not."""
        others = [plain(title, 30) for title in self.sheets if title not in used]
        if not others:
            return contents
        said = f"Sheet {' and '.join(plain(title, 30) for title in used)} was read; not read: "
        listed = ", ".join(others[:6]) + (" and more" if len(others) > 6 else "")
        return replace(contents, found=(f"{said}{listed}.", *contents.found))


def _targets(archive: Archive, work: Work, part: str, kind: str) -> dict[str, str]:
    """Give the parts of one kind that a part refers to, by the name of the reference."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    relations = Named(archive, path, work, "Relationship")
    relations.read()
    return {
        relation.get("Id", ""): posixpath.normpath(
            posixpath.join("/", folder, relation.get("Target", ""))
        ).lstrip("/")
        for relation in relations.found
        if relation.get("Type", "").endswith(f"/{kind}")
        and relation.get("TargetMode") != "External"
    }
