"""The inbox as people see it: templates, scripts, cookies, and forms as the answers they stand for."""
