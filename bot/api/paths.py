"""Job ids in paths. They are often branch names, so they may hold slashes, and whatever they hold reaches the call."""

from starlette.convertors import Convertor, register_url_convertor

TAKEN_ENDINGS = ("/questions", "/progress", "/events")


class JobId(Convertor[str]):
    """A job id with a word of ours behind it."""

    regex = r"(?s:.+)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class WholeJobId(JobId):
    """A job id that is the rest of the path: what ends in a word of ours is another call."""

    regex = r"(?s:(?!.*/(?:questions|progress|events)$).+)"


def install() -> None:
    register_url_convertor("job", JobId())
    register_url_convertor("whole_job", WholeJobId())
