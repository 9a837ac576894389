"""Server-sent events come out whole, however the bytes were cut."""

import pytest
from handraise import UnexpectedReply
from handraise.sse import MOST_CHARACTERS, Frame, FrameParser

STREAM = (
    "\ufeffretry: 2000\n\n: ping\r\n\r\n"
    "id: 7\r\nevent: question.answered\r\ndata: {\rdata:  1,\ndata:}\n\n"
    "id: 8\rdata: é😀\r\r"
)
FRAMES = [Frame("question.answered", "{\n 1,\n}", "7"), Frame("message", "é😀", "8")]


def parsed(*chunks: bytes) -> list[Frame]:
    parser = FrameParser()
    return [frame for chunk in chunks for frame in parser.feed(chunk)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 1000])
def test_the_cuts_between_chunks_do_not_matter(size: int) -> None:
    content = STREAM.encode()

    assert parsed(*(content[start : start + size] for start in range(0, len(content), size))) == FRAMES


@pytest.mark.parametrize("cut", range(len(STREAM.encode())))
def test_any_single_cut_is_fine(cut: int) -> None:
    content = STREAM.encode()

    assert parsed(content[:cut], content[cut:]) == FRAMES


@pytest.mark.parametrize(
    ("content", "frames"),
    [
        (b"data: a\n\n", [Frame("message", "a", None)]),
        (b"data:a\n\n", [Frame("message", "a", None)]),
        (b"data:  a\n\n", [Frame("message", " a", None)]),
        (b"data\n\n", [Frame("message", "", None)]),
        (b"data: a\ndata: b\ndata\n\n", [Frame("message", "a\nb\n", None)]),
        (b"event: x\n\ndata: a\n\n", [Frame("message", "a", None)]),
        (b": data: no\n\ndata: a\n\n", [Frame("message", "a", None)]),
        (b"data: a: b\n\n", [Frame("message", "a: b", None)]),
        ("data: a\u2028b\x85c\x0bd\n\n".encode(), [Frame("message", "a\u2028b\x85c\x0bd", None)]),
        (b"id: 1\ndata: a\n\ndata: b\n\n", [Frame("message", "a", "1"), Frame("message", "b", "1")]),
        (b"id: 1\x00\ndata: a\n\n", [Frame("message", "a", None)]),
        (b"colour: red\ndata: a\n\n", [Frame("message", "a", None)]),
        (b"data: \xff\n\n", [Frame("message", "\ufffd", None)]),
        (b"data: \xef\xbb\xbfa\n\n", [Frame("message", "\ufeffa", None)]),
        (b"\n\n\n", []),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"", []),
    ],
)
def test_the_rules_of_the_standard(content: bytes, frames: list[Frame]) -> None:
    assert parsed(content) == frames


def test_a_frame_does_not_wait_for_what_follows_its_carriage_return() -> None:
    parser = FrameParser()

    assert parser.feed(b"data: a\r\r") == [Frame("message", "a", None)]
    assert parser.feed(b"\ndata: b\r\n\r\n") == [Frame("message", "b", None)]


def test_an_id_is_known_though_no_frame_carries_it() -> None:
    parser = FrameParser()

    assert parser.feed(b"id: 42\n\n") == []
    assert parser.last_id == "42"


def test_the_id_of_a_frame_counts_only_with_the_whole_frame() -> None:
    parser = FrameParser()
    parser.feed(b"id: 6\ndata: a\n\nid: 7\ndata: half")

    assert parser.last_id == "6"


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 65536, b"data: " + b"x" * 65536 + b"\n"])
def test_a_frame_without_end_is_refused_before_it_fills_the_memory(chunk: bytes) -> None:
    with pytest.raises(UnexpectedReply, match="larger"):
        parsed(*[chunk] * (MOST_CHARACTERS // 65536 + 2))
