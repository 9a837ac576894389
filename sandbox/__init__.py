"""A Slack workspace on loopback, as strict as Slack or stricter: tests drive it, a newcomer opens it in a browser.

It knows nothing of handraise, so that it can judge it: what it refuses, Slack refuses.
"""
