"""Questions by mail: one notice with a link to the page, and what bounces. Nothing is ever decided by mail."""
