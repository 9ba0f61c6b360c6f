"""What is taken home of an audit: one document, as HTML and as JSON."""

from dashboard.document.blocks import Report, ReportDetails
from dashboard.document.html import html_of, json_of
from dashboard.report.contents import ReportRequest, report_of, title_of

__all__ = [
    "Report",
    "ReportDetails",
    "ReportRequest",
    "html_of",
    "json_of",
    "report_of",
    "title_of",
]
