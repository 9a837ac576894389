"""The plain pages: what they show, to whom, and that nothing an agent writes becomes markup or hides."""

import html
import re
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import APPROVAL, CHOICE, ONE_SECOND, answer, ask, cancel, comment, settled
from tests.support.servers import RunningServer, running

_SECURITY = {
    "content-security-policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@pytest.fixture
def browser(server: RunningServer) -> httpx2.Client:
    """Somebody at this machine, with no key at all."""
    return httpx2.Client(base_url=server.url)


def _words(page: str) -> str:
    """The text of a page as a reader sees it, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def _page(browser: httpx2.Client, path: str) -> str:
    with browser:
        response = browser.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response.text


def test_the_first_page_of_a_fresh_server_says_how_to_begin(data_dir: Path) -> None:
    with running(data_dir) as server, httpx2.Client(base_url=server.url) as browser:
        words = _words(browser.get("/").text)

    assert "0 open questions No agent is waiting for you." in words
    assert re.search(r'handraise ask "Which database\?" -o PostgreSQL -o SQLite', words)


def test_the_first_page_lists_open_questions_with_links(agent: httpx2.Client, browser: httpx2.Client) -> None:
    question = ask(agent, CHOICE, question="Which database for the shop?", agent="builder")
    gone = ask(agent, question="Settled long ago?")
    cancel(agent, gone["id"])

    page = _page(browser, "/")

    assert f'href="/q/{question["id"]}"' in page
    assert re.search(r"builder asks (30 min|29 min \d+ s) left, until", _words(page))
    assert "Which database for the shop?" in _words(page)
    assert gone["id"] not in page


def test_the_page_of_a_question_shows_all_that_helps_to_decide(agent: httpx2.Client, browser: httpx2.Client) -> None:
    question = ask(
        agent,
        question="Which database?",
        agent="builder",
        job="pages",
        options=[
            {
                "label": "PostgreSQL",
                "description": "A server",
                "recommended": True,
                "implications": "One more thing to run",
                "pros": ["fast"],
                "cons": ["a server"],
            },
            {"label": "SQLite file"},
        ],
        context={"currentStep": "schema design"},
        urgency="high",
        to="release-managers",
        phase="build",
        projectId="shop",
        defaultResponse={"value": "SQLite file"},
    )

    words = _words(_page(browser, f"/q/{question['id']}"))

    for shown in (
        "builder asks",
        "Which database?",
        "PostgreSQL recommended A server One more thing to run + fast − a server",
        "kind blocking job pages project shop phase build for release-managers urgency high",
        "currentStep schema design default SQLite file",
        f"handraise answer {question['id']} PostgreSQL",
        f"handraise answer {question['id']} 'SQLite file'",
    ):
        assert shown in words


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ({}, ['"your answer"']),
        (APPROVAL, ["approve", 'reject --reason "why"']),
        ({"responseType": "boolean"}, ["yes", "no"]),
        ({"responseType": "number"}, ["42"]),
        ({"responseType": "multi_choice", "options": ["a", "b", "c"]}, ["""'["a", "b"]'"""]),
        (
            {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}},
            ["""'{"name": "…"}'"""],
        ),
    ],
)
def test_the_page_of_a_question_says_how_to_answer_each_shape(
    agent: httpx2.Client, browser: httpx2.Client, body: dict[str, object], lines: list[str]
) -> None:
    question = ask(agent, body)

    page = _page(browser, f"/q/{question['id']}")

    found = [html.unescape(line) for line in re.findall(r"<pre><code>(.*?)</code></pre>", page)]
    assert [line.split(f"answer {question['id']} ")[1] for line in found] == lines


def test_an_approval_shows_the_whole_action_and_its_digest(agent: httpx2.Client, browser: httpx2.Client) -> None:
    action = {"tool": "linear.create", "arguments": {"count": 5}, "diff": "- a\n+ b", "risk": "high"}
    question = ask(agent, APPROVAL | {"action": action})

    words = _words(_page(browser, f"/q/{question['id']}"))

    assert (
        f'What is to be approved linear.create high risk {{ "count": 5 }} - a + b {question["action"]["digest"]}'
        in words
    )


def test_a_settled_question_says_how_it_ended_and_offers_no_answer(
    server: RunningServer, agent: httpx2.Client, admin: httpx2.Client
) -> None:
    answered, expired, withdrawn = ask(agent, CHOICE), ask(agent, timeoutMinutes=ONE_SECOND), ask(agent)
    answer(admin, answered["id"], "pg")
    settled(agent, expired["id"])
    cancel(agent, withdrawn["id"], reason="found it")

    with httpx2.Client(base_url=server.url) as browser:
        pages = [_words(browser.get(f"/q/{each['id']}").text) for each in (answered, expired, withdrawn)]

    assert re.search(r"Admin \(api\) answered “PostgreSQL” at [-0-9]+ [:0-9]+ UTC\.", pages[0])
    assert re.search(r"Nobody answered by [-0-9]+ [:0-9]+ UTC; nothing was decided\.", pages[1])
    assert re.search(r"agent \(api\) withdrew it at [-0-9]+ [:0-9]+ UTC: found it\.", pages[2])
    assert not any("Answer it from a shell" in words for words in pages)


def test_a_paused_question_shows_the_thread(agent: httpx2.Client, admin: httpx2.Client, browser: httpx2.Client) -> None:
    question = ask(agent, CHOICE)
    comment(admin, question["id"], "For which service?")

    words = _words(_page(browser, f"/q/{question['id']}"))

    assert "clock paused" in words
    assert "Waiting for the asker's reply; the clock stands still." in words
    assert "Thread Admin : For which service?" in words


def test_markup_from_agents_stays_text(agent: httpx2.Client, admin: httpx2.Client, server: RunningServer) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"
    question = ask(
        agent,
        question=evil,
        agent=evil,
        options=[{"label": evil, "description": evil, "implications": evil, "pros": [evil], "cons": [evil]}],
        context={evil: evil},
        to=evil,
        phase=evil,
        projectId=evil,
    )
    approval = ask(agent, APPROVAL | {"action": {"tool": evil, "arguments": {evil: evil}, "diff": evil}})
    comment(admin, question["id"], evil)
    cancelled = ask(agent)
    cancel(agent, cancelled["id"], reason=evil)

    with httpx2.Client(base_url=server.url) as browser:
        pages = [browser.get(path).text for path in ("/", *(f"/q/{q['id']}" for q in (question, approval, cancelled)))]

    for page in pages:
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "{{ 7*7 }}" in html.unescape(page)
        assert "<script" not in page
        assert "<img" not in page


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"),
        ("\u2066", "⟨U+2066⟩"),
        ("\u200b", "⟨U+200B⟩"),
        ("\u00ad", "⟨U+00AD⟩"),
        ("\ufeff", "⟨U+FEFF⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\x1b", "⟨U+001B⟩"),
        ("\r", "⟨U+000D⟩"),
    ],
)
def test_hidden_characters_are_made_visible(
    server: RunningServer, agent: httpx2.Client, hidden: str, shown: str
) -> None:
    text = f"pay{hidden}load"
    question = ask(
        agent,
        question=text,
        agent=text,
        options=[{"label": text, "description": text}, "other"],
        context={text: text},
    )
    action = {"tool": text, "arguments": {"command": text}, "diff": text}
    approval = ask(agent, APPROVAL | {"action": action})

    with httpx2.Client(base_url=server.url) as browser:
        home = browser.get("/").text
        page = browser.get(f"/q/{question['id']}").text
        approved = browser.get(f"/q/{approval['id']}").text

    visible = f"pay{shown}load"
    assert (home.count(visible) >= 2, page.count(visible) >= 6, approved.count(visible) >= 2) == (True, True, True)
    assert hidden not in home + page + approved


@pytest.mark.parametrize("path", ["/", "/q/q_00000000000000000000000000"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8700"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example"},
        {"Host": ""},
        {"X-Forwarded-For": "203.0.113.7"},
        {"X-Forwarded-Host": "localhost"},
        {"X-Real-IP": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
    ],
)
def test_the_pages_are_for_whoever_sits_at_this_machine(
    agent: httpx2.Client, browser: httpx2.Client, path: str, headers: dict[str, str]
) -> None:
    ask(agent, question="Nobody else may read this?")

    with browser:
        refused = browser.get(path, headers=headers)

    assert refused.status_code == 403
    assert "Only from the machine itself" in refused.text
    assert "Nobody else may read this?" not in refused.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8700", "127.0.0.1", "[::1]:8700", "[::1]"])
def test_the_names_of_this_machine_are_accepted(browser: httpx2.Client, host: str) -> None:
    with browser:
        assert browser.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("name", ["q_00000000000000000000000000", "nonsense", "%00", "%FF", "<script>"])
def test_a_question_that_does_not_exist_has_a_friendly_page(browser: httpx2.Client, name: str) -> None:
    with browser:
        missing = browser.get(f"/q/{name}")

    assert missing.status_code == 404
    assert "There is no such question The link may be cut short. See what is open." in _words(missing.text)


@pytest.mark.parametrize("path", ["/", "/docs", "/q/nonsense"])
def test_pages_load_nothing_from_elsewhere_and_run_nothing(browser: httpx2.Client, path: str) -> None:
    with browser:
        response = browser.get(path)

    assert {name: response.headers[name] for name in _SECURITY} == _SECURITY
    assert "<script" not in response.text
    links = re.findall(r'(?:src|href)="([^"]*)"', response.text)
    assert [link for link in links if not link.startswith("/") or link.startswith("//")] == []


def test_the_stylesheet_is_there(browser: httpx2.Client) -> None:
    with browser:
        style = browser.get("/static/handraise.css")

    assert style.status_code == 200
    assert style.headers["content-type"].startswith("text/css")


def test_the_reference_lists_every_call_and_its_fields(browser: httpx2.Client) -> None:
    with browser:
        document = browser.get("/openapi.json").json()
        words = _words(browser.get("/docs").text)

    calls = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert len(calls) >= 13
    assert [call for call in calls if f"{call[0]} {call[1]}" not in words] == []
    fields = document["components"]["schemas"]["AskBody"]["properties"]
    assert [name for name in fields if name not in words] == []
    assert "question string, required" in words
    assert "urgency low | normal | high | urgent" in words
