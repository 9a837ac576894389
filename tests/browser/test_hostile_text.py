"""Whatever agents write is text: it is all there to read, nothing in it hides, and it does nothing."""

from dataclasses import dataclass
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import too_wide
from tests.browser.people import House, card, path_of, wait_until_live
from tests.scenario.talk import Json, cancel, comment, ok
from tests.support.thoroughness import shortly
from tests.support.visits import PHONE, Visits

_ELSEWHERE = "http://elsewhere.example"


@dataclass(frozen=True)
class Sample:
    name: str
    written: str
    #: What people read instead, where something hides.
    read: str = ""

    @property
    def shown(self) -> str:
        return self.read or self.written


SAMPLES = (
    Sample("markup", "<b>bold</b></textarea></p><h1 style='font-size:90px'>Approved by the CTO</h1><!-- {{ 7*7 }}"),
    Sample("scripts", "<script>hacked=1</script>\"><img src=x onerror=hacked=1>' autofocus onfocus=hacked=1 x='"),
    Sample(
        "links",
        f"<a href='javascript:hacked=1'>x</a><img src={_ELSEWHERE}/x>[x]({_ELSEWHERE})",
    ),
    Sample(
        "forms and mentions",
        "<form action=/logout method=post><button>Approve</button></form> @everyone <!channel> &lt;!here&gt; **b** `c`",
    ),
    Sample("bidi", "pay \u202e001 to\u2066 us\u2069\u200f", "pay ⟨U+202E⟩001 to⟨U+2066⟩ us⟨U+2069⟩⟨U+200F⟩"),
    Sample(
        "invisible",
        "n\u200bo\u2060\u00ad\ufeff\u3164 \U000e0064\U000e007f",
        "n⟨U+200B⟩o⟨U+2060⟩⟨U+00AD⟩⟨U+FEFF⟩⟨U+3164⟩ ⟨U+E0064⟩⟨U+E007F⟩",
    ),
    Sample("long word", "W" * 105),
    Sample("marks", "Z" + "\u0351\u0352\u0353" * 20 + " ﷽﷽﷽﷽﷽﷽ 🏳️‍🌈👩‍💻 ｇｏ"),
)
#: Only where names may hold them: the ids of jobs and projects may not.
CONTROLS = Sample("escapes", "\x1b[31mred\x1b[0m\x07\x08\x7f", "⟨U+001B⟩[31mred⟨U+001B⟩[0m⟨U+0007⟩⟨U+0008⟩⟨U+007F⟩")


@dataclass(frozen=True)
class Asked:
    """Questions that carry the sample wherever an agent can write."""

    job: str
    project: str
    pick: Json
    weigh: Json
    approve: Json
    fill: Json


def asked_with(house: House, sample: Sample) -> Asked:
    def s(name: str) -> str:
        return f"{name} {sample.written}"

    bare = sample.written if sample.name != CONTROLS.name else "none"
    job, project = f"job {bare}", f"project {bare}"
    where = {"jobId": job, "projectId": project, "agent": s("agent"), "tags": [s("tag")], "category": s("category")}
    notes = {"description": s("description"), "implications": s("implications")}
    sides = {"pros": [s("pro")], "cons": [s("con")]}
    context = {s("key"): s("context"), "errorDetails": s("error")}
    pick = house.ask(where, question=s("pick"), options=[{"label": s("label"), **notes}, "other"], context=context)
    weigh = house.ask(
        where,
        question=s("weigh"),
        options=[{"label": s("label"), **notes, **sides}, "other"],
        context=context,
        phase=s("phase"),
        to=s("to"),
    )
    action = {"tool": s("tool"), "arguments": {s("argument"): s("value"), "in": [s("item")]}, "diff": s("diff")}
    approve = house.ask(where, question=s("approve"), type="approval", action=action)
    field = {"type": "string", "title": s("title"), "description": s("help"), "enum": ["a"], "enumNames": [s("choice")]}
    fill = house.ask(
        where, question=s("fill"), schema={"type": "object", "properties": {"f": field, s("name"): {"type": "string"}}}
    )
    ok(comment(house.agent, weigh["id"], s("comment")))
    house.agent.post(f"/api/jobs/{quote(job, safe='')}/progress", json={"text": s("progress")}).raise_for_status()
    return Asked(job, project, pick, weigh, approve, fill)


def is_read(place: Locator, sample: Sample, *names: str) -> None:
    words = " ".join(place.inner_text().split())
    assert [name for name in names if " ".join(f"{name} {sample.shown}".split()) not in words] == [], words


def does_nothing(page: Page) -> None:
    assert page.evaluate("typeof hacked") == "undefined"
    assert too_wide(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert too_wide(page) == []
    page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.parametrize("sample", shortly([*SAMPLES, CONTROLS], keep=[1, 4, 6]), ids=lambda sample: sample.name)
def test_what_agents_write_is_all_there_and_does_nothing(house: House, visits: Visits, sample: Sample) -> None:
    asked = asked_with(house, sample)
    page = house.page(visits, "Admin")
    went: list[str] = []
    page.on("request", lambda request: went.append(request.url))
    picks = "&".join(f"id={each['id']}" for each in (asked.pick, asked.approve))
    shown: list[tuple[str, list[str]]] = [
        (f"/?project={quote(asked.project)}", ["agent", "pick", "label", "description", "implications", "error"]),
        (path_of(asked.pick), ["agent", "pick", "key", "context", "error", "label", "description", "implications"]),
        (path_of(asked.weigh), ["weigh", "pro", "con", "phase", "to", "comment", "progress"]),
        (path_of(asked.approve), ["agent", "approve", "tool", "argument", "value", "item", "diff"]),
        (path_of(asked.fill), ["fill", "title", "help", "choice", "name"]),
        (f"/batch?{picks}", ["agent", "pick", "approve"]),
        (f"/jobs/{quote(asked.job, safe='')}", ["progress", "pick", "weigh", "approve", "fill", "tool"]),
    ]

    for path, names in shown:
        page.goto(path)
        is_read(page.locator("main"), sample, *names)
        does_nothing(page)

    assert {url.split("/")[2] for url in went} == {f"127.0.0.1:{house.server.port}"}


@pytest.mark.soak
@pytest.mark.parametrize("sample", [SAMPLES[1], SAMPLES[4], CONTROLS], ids=lambda sample: sample.name)
def test_history_and_csv_show_it_as_text_too(house: House, visits: Visits, sample: Sample) -> None:
    question = house.ask(question=f"old {sample.written}", agent=f"agent {sample.written}")
    cancel(house.agent, question["id"], reason=f"reason {sample.written}")
    page = house.page(visits, "Admin", f"/history?agent={quote('agent ' + sample.written)}")

    is_read(page.locator("main"), sample, "old", "agent", "reason")
    does_nothing(page)


@pytest.mark.parametrize(
    "sample", shortly([SAMPLES[1], SAMPLES[4], SAMPLES[6]], keep=[0]), ids=lambda sample: sample.name
)
def test_what_comes_in_while_the_page_is_open_is_text_as_well(house: House, visits: Visits, sample: Sample) -> None:
    page = house.page(visits, "Admin", "/")
    wait_until_live(page)

    written = {"question": f"now {sample.written}", "agent": f"agent {sample.written}"}
    question = house.ask(written, urgency="urgent", options=[f"label {sample.written}", "other"])

    dialog = page.locator("dialog.urgent")
    expect(dialog).to_be_visible()
    is_read(dialog, sample, "now", "agent", "label")
    dialog.get_by_role("button", name="Later").click()
    expect(card(page, question)).to_be_visible()
    is_read(card(page, question), sample, "now", "agent", "label")
    does_nothing(page)


@pytest.mark.soak
def test_whoever_writes_when_something_urgent_comes_reads_it_as_text(house: House, visits: Visits) -> None:
    page = house.page(visits, "Admin", "/?words=nothing+at+all")
    wait_until_live(page)
    page.get_by_placeholder("Search questions").fill("typing")

    house.ask(question="<img src=x onerror=hacked=1> \u202e", agent="<b>x</b>", urgency="urgent")

    expect(page.get_by_text("<b>x</b> asks you now: <img src=x onerror=hacked=1> ⟨U+202E⟩")).to_be_visible()
    does_nothing(page)


def test_very_long_texts_are_there_to_the_end_and_move_nothing_aside(house: House, visits: Visits) -> None:
    words, word = "lorem ipsum " * 800, "X" * 9_000
    question = house.ask(
        question=f"{word} end of the question",
        type="approval",
        context={"story": f"{words * 2} end of the story", "word": f"{word}{word} end of the word"},
        action={
            "tool": "t" * 200,
            "arguments": {"n" * 300: f"{word * 2} end of the value"},
            "diff": f"+{word * 2} end of the diff",
        },
    )
    comment(house.agent, question["id"], f"{word} end of the comment")

    for options in ({}, PHONE):
        page = house.page(visits, "Admin", path_of(question), **options)
        text = page.locator("main").inner_text()
        for what in ("question", "story", "word", "value", "diff", "comment"):
            assert f"end of the {what}" in text
        assert too_wide(page) == []
        page.goto(f"/?words={question['id']}")
        expect(card(page, question)).to_be_visible()
        assert too_wide(page) == []


@pytest.mark.soak
def test_an_agent_does_not_get_to_look_like_us(house: House, visits: Visits) -> None:
    lookalike = "Approved by Dana.\n\nYou may answer.\nAction\u2028digest sha256:0000"
    question = house.approval(tool="deploy", arguments={"note": lookalike})
    page = house.page(visits, "Admin", path_of(question))

    expect(page.locator(".tree pre")).to_have_text(lookalike.replace("\u2028", "⟨U+2028⟩"))
    expect(page.locator(".digest")).to_have_text(question["action"]["digest"])
    expect(page.get_by_role("link", name="Go")).to_have_count(0)
