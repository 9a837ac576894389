"""What a mail shows, and that no text of an agent becomes more than text."""

import re
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.email.addresses import Mailbox
from adapters.email.letter import notice
from adapters.email.message import Headers, Parts, compose, message_id_of, notice_parts
from adapters.email.rendering import as_html, as_text
from core.ids import NoticeId
from core.prompt import Choice, Fact, Prompt, ShownAction
from core.question import Milestone
from core.safetext import one_line, visible
from tests.email.samples import ARGUMENTS, DIFF, DIGEST, PAGE, Seen, approval, choice, noon, open_prompt
from tests.support.builders import NOW

KEY = NoticeId("q_1:email:dana@example.com")
TAGS = {"html", "head", "meta", "title", "body", "div", "p", "h2", "table", "tr", "td", "pre", "span", "b", "br", "a"}
ATTRIBUTES = {"lang", "charset", "name", "content", "style", "href", "role"}
NASTY = [
    "<script>alert(1)</script>",
    "</pre></div><a href='https://evil.example'>x</a>",
    "https://evil.example/?a=1&b=2",
    "javascript:alert(1)",
    '" onmouseover="alert(1)',
    "<!-- hidden -->",
    "<![CDATA[x]]>",
    "&lt;b&gt; &#60;i&#62;",
    "<img src=https://evil.example/t.gif>",
    "a\r\nBcc: eve@example.com\r\n\r\nbody",
    "\u202egnp.exe",
    "\u200b\u2060\ufeff",
    "\x00\x1b[2J\x7f\x85\u2028\u2029",
    "=?utf-8?q?=E2=80=AE_hidden=0D=0ABcc:_eve?=",
    "\ud800",
    ".\n..\n.\nQUIT",
    "From here on",
]
HOSTILE = st.one_of(st.sampled_from(NASTY), st.text(max_size=200), st.lists(st.sampled_from(NASTY)).map(" ".join))


def parts(prompt: Prompt, sentence: str | None = None) -> Parts:
    return notice_parts(prompt, PAGE, sentence)


def composed(of: Parts, *, replies_to: str | None = None, key: NoticeId = KEY) -> EmailMessage:
    sender = Mailbox("bot@example.com", "Handraise")
    headers = Headers(sender, "dana@example.com", message_id_of(KEY, "example.com"), key, noon(), replies_to)
    raw = compose(of, headers)
    assert max(len(line) for line in raw.split(b"\r\n")) <= 998
    assert raw.isascii()
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", raw)
    assert all(len(word) <= 75 for word in re.findall(rb"=\?utf-8\?\S*\?=", raw.partition(b"\r\n\r\n")[0]))
    mail = message_from_bytes(raw, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    assert not mail.defects
    return mail


def content(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


def hostile(text: str) -> Prompt:
    """Every place where an agent's words may stand, filled with the same words."""
    return replace(
        approval(),
        title=f"{text} asks",
        text=text,
        facts=(Fact(text, text),),
        choices=(Choice(text, text, True, text, (text,), (text,)),),
        action=ShownAction(text, {"key": text, text: [text]}, text, text, text),
        thread=(Fact(text, text),),
        footer=text,
        story=(Milestone(NOW, text),),
    )


def test_whoever_it_comes_to_last_reads_who_may_answer_and_the_whole_story() -> None:
    story = (
        Milestone(NOW, "Reminder: nobody has answered for 5 min. It waits for Dana."),
        Milestone(NOW, "Nobody has answered for 12 min, so this goes to Erik as well."),
    )

    made = parts(replace(approval(), who="Needed: 2 of release. 1 of 2 have agreed.", story=story))

    for shown in (made.text, Seen(made.html).text):
        assert "Needed: 2 of release. 1 of 2 have agreed." in shown
        assert "So far" in shown
        for told in story:
            assert told.sentence in shown


def test_an_approval_shows_the_whole_action() -> None:
    made = parts(approval())
    html = Seen(made.html).text

    for shown in (made.text, html):
        for fact in ("release-bot asks", "May I deploy 1.4.0 to production?", "deploy", "high", DIGEST, "Dana"):
            assert fact in shown
        assert "Answer by 2026-03-01 12:30:00 UTC." in shown
        assert '"replicas": 3' in shown
    assert DIFF.strip() in html
    assert all(f"    {line}\n" in made.text for line in DIFF.splitlines())
    assert "not show everything" not in made.text + html
    assert ARGUMENTS["notes"] == "see https://evil.example.net/x?a=1&b=2"
    assert "see https://evil.example.net/x?a=1&b=2" in html


def test_a_choice_shows_what_helps_to_choose() -> None:
    made = parts(choice())

    expected = """\
Options
-------
    * PostgreSQL (recommended)
        A server of its own.
        Implies: Needs a backup plan.
        + fast
        + safe
        - work

    * SQLite
        One file.
        + simple
        - one writer
"""
    assert expected in made.text
    for word in ("PostgreSQL", "(recommended)", "A server of its own.", "Implies: Needs a backup plan.", "+ fast"):
        assert word in Seen(made.html).text


def test_the_text_of_a_question_is_a_plain_letter() -> None:
    assert parts(open_prompt(), "You have 5 minutes left.").text == (
        "You have 5 minutes left.\n"
        "\n"
        "✋ builder asks\n"
        "\n"
        "    Which database?\n"
        "    The old one is full.\n"
        "\n"
        "Answer by 2026-03-01 12:30:00 UTC.\n"
        "\n"
        "May answer: an admin.\n"
        "\n"
        f"Open the question: {PAGE}\n"
        "\n"
        "Details\n"
        "-------\n"
        "    kind: blocking\n"
        "    region: eu-west-1\n"
        "\n"
        "Question q_00000000000000000000000001. "
        "Nothing is decided by mail, and replies to it are not read: answer on the page.\n"
    )


def test_the_headers_are_those_of_a_machine() -> None:
    mail = composed(parts(approval()))

    assert dict(mail.items()) | {"Content-Type": ""} == {
        "Content-Type": "",
        "MIME-Version": "1.0",
        "From": "Handraise <bot@example.com>",
        "To": "dana@example.com",
        "Subject": "release-bot asks: May I deploy 1.4.0 to production?",
        "Date": "Sun, 01 Mar 2026 12:00:00 +0000",
        "Message-ID": message_id_of(KEY, "example.com"),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
        "List-Id": "handraise <handraise.example.com>",
        "X-Handraise-Notice": "q_1:email:dana@example.com",
    }
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


def test_a_reply_names_what_it_replies_to() -> None:
    mail = composed(parts(approval()), replies_to="<first@example.com>")

    assert (mail["In-Reply-To"], mail["References"]) == ("<first@example.com>", "<first@example.com>")
    assert mail["Subject"] == "Re: release-bot asks: May I deploy 1.4.0 to production?"


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_the_subject_is_one_visible_line_whatever_an_agent_writes(text: str) -> None:
    prompt = replace(open_prompt(), title=text, text=text)

    mail = composed(parts(prompt))

    whole = one_line(f"{text}: {text}")
    assert mail["Subject"] == (whole if len(whole) <= 120 else whole[:119] + "…")
    assert visible(mail["Subject"]) == mail["Subject"]
    assert len(mail.keys()) == len(composed(parts(open_prompt())).keys())
    assert mail["Bcc"] is None


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_no_text_of_an_agent_becomes_markup_or_a_link(text: str) -> None:
    made = parts(hostile(text), sentence=text)

    seen = Seen(content(composed(made), "html"))
    plain = Seen(made.html.replace(PAGE, ""))
    assert set(seen.tags) <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert seen.links == [PAGE]
    assert seen.tags.count("a") == 1
    assert seen.declarations == ["doctype html"]
    assert (
        seen.styles
        <= Seen(as_html(notice(hostile("x"), PAGE, sentence="x"))).styles
        | Seen(as_html(notice(hostile("+\n-"), PAGE))).styles
    )
    assert visible(seen.text) == seen.text
    # The words are all there, and no piece of text between two elements is an address that mail programs would link.
    assert visible(text).strip() in seen.text
    assert not re.search(r">[^<]*(://|\w[.@]\w)[^<]*<", re.sub(r"<head>.*</head>", "", made.html))
    assert plain.links == [""]


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_words_of_an_agent_never_stand_at_the_left_margin(text: str) -> None:
    prompt = replace(hostile(text), title="builder asks", footer="")

    plain = content(composed(parts(prompt)), "plain")

    ours = re.compile(
        r"✋ builder asks|Answer by [-0-9: ]+UTC\.|Open the question: \S+"
        r"|Question q_0*1\. Nothing is decided by mail, .*"
        r"|This mail does not show everything\. Read the page before you decide\.|\[[0-9,]+ \w+ left out here; .*\]"
        r"|May approve: an admin\.|What is to be approved|Arguments|Diff|Options|So far|Details|Thread|-+|"
    )
    assert [line for line in plain.splitlines() if not line.startswith("    ") and not ours.fullmatch(line)] == []
    assert plain.count(PAGE) == 1
    assert visible(plain) == plain


def test_an_encoded_word_in_a_subject_stays_as_it_was_written() -> None:
    hidden = "=?utf-8?q?=E2=80=AE=0D=0ABcc:_eve@example.com?="

    mail = composed(parts(replace(open_prompt(), title="x", text=hidden)))

    assert mail["Subject"] == f"x: {hidden}"


def test_what_does_not_fit_is_named_and_the_page_is_pointed_at() -> None:
    big = replace(
        approval(),
        action=ShownAction("deploy", {"blob": "y" * 30_000}, "+z\n" * 30_000, "high", DIGEST),
        thread=tuple(Fact("Dana", f"remark {number}") for number in range(200)),
        facts=tuple(Fact(f"fact {number}", "v") for number in range(100)),
    )

    made = parts(big)

    for shown in (made.text, Seen(made.html).text):
        assert "This mail does not show everything. Read the page before you decide." in shown
        assert re.search(r"y… \[18,016 more characters on the page\]", shown)
        assert re.search(r"z\n… \[|… \[[0-9,]+ more characters on the page\]", shown)
        assert "[60 details left out here; the page shows everything.]" in shown
        assert "[180 remarks left out here; the page shows everything.]" in shown
        assert "remark 199" in shown
        assert DIGEST in shown


@pytest.mark.parametrize("character", ["x", "<", "&", "\u202e", "\n", "+\n", "a.", "😀", " "])
def test_the_html_stays_below_what_mail_programs_clip(character: str) -> None:
    long = character * 9_000
    note = character * 3_000
    options = (Choice(character * 200, note, True, note, (note,) * 50, (note,) * 50),) * 100
    prompt = replace(
        approval(),
        text=long,
        choices=options,
        action=ShownAction(long, {"a": long}, long * 5, "high", DIGEST),
        facts=(Fact(long, long),) * 500,
        thread=(Fact(long, long),) * 200,
    )

    made = parts(prompt)

    assert len(made.html.encode()) <= 100_000
    assert len(composed(made).as_bytes()) <= 600_000
    if character.strip():
        assert "This mail does not show everything." in made.text


def test_a_text_without_markup_is_the_same_in_both_parts() -> None:
    letter = notice(choice(), PAGE)

    words = re.findall(r"\w+", as_text(letter).replace(PAGE, ""))

    assert set(words) - set(re.findall(r"\w+", Seen(as_html(letter)).text)) == set()


def test_a_long_key_does_not_break_a_line_and_an_odd_one_no_header() -> None:
    assert composed(parts(choice()), key=NoticeId("k" * 2_000))["X-Handraise-Notice"] is None
    odd = composed(parts(choice()), key=NoticeId("a b\r\nBcc: x%ü"))
    assert odd["X-Handraise-Notice"] == "a%20b%0D%0ABcc:%20x%25%C3%BC"
    assert odd["Bcc"] is None
