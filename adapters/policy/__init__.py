"""The policy of a workspace as text that people read, compare and keep in version control."""

from adapters.policy.editing import edit_policy, policy_diff, with_shifts
from adapters.policy.problems import PolicyProblems, Problem
from adapters.policy.reading import DEFAULT_TEXT, read_policy
from adapters.policy.rendering import rulebook_json

__all__ = [
    "DEFAULT_TEXT",
    "PolicyProblems",
    "Problem",
    "edit_policy",
    "policy_diff",
    "read_policy",
    "rulebook_json",
    "with_shifts",
]
