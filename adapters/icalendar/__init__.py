"""On-call shifts out of iCalendar files (RFC 5545), as Google, Outlook and the like export them."""

from adapters.icalendar.shifts import LARGEST_BYTES, MOST_SHIFTS, shifts_from

__all__ = ["LARGEST_BYTES", "MOST_SHIFTS", "shifts_from"]
