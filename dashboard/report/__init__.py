"""What is taken home of an audit: one document, as HTML and as JSON."""

from dashboard.report.contents import Asked, report_of, title_of
from dashboard.report.document import Report, Typed
from dashboard.report.html import html_of, json_of

__all__ = ["Asked", "Report", "Typed", "html_of", "json_of", "report_of", "title_of"]
