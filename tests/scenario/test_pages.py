"""The pages: what they show, to whom, and that nothing an agent writes becomes markup or hides."""

import csv
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import APPROVAL, CHOICE, ONE_SECOND, answer, ask, cancel, comment, settled
from tests.support.browsing import Visit, login_link, words_of
from tests.support.servers import RunningServer, running

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
_SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def visit(server: RunningServer) -> Iterator[Visit]:
    """The admin, signed in."""
    with Visit(server) as visitor:
        yield visitor


@pytest.fixture
def nobody(server: RunningServer) -> Iterator[Visit]:
    with Visit(server, signed_in=False) as visitor:
        yield visitor


def test_the_inbox_of_a_fresh_server_teaches_the_first_ask(data_dir: Path) -> None:
    with running(data_dir) as server, Visit(server) as visit:
        words = visit.words("/")

    assert "No agent is waiting for you" in words
    assert re.search(r'handraise ask "Which database\?" -o PostgreSQL -o SQLite', words)
    assert "handraise approve" in words


def test_the_inbox_lists_what_is_open_most_pressing_first(agent: httpx2.Client, visit: Visit) -> None:
    later = ask(agent, question="Whenever you have time?", projectId="order", urgency="low")
    sooner = ask(agent, question="Soon?", projectId="order", timeoutMinutes=20)
    urgent = ask(agent, question="Now?", projectId="order", urgency="urgent")
    normal = ask(agent, CHOICE, question="Which database for the shop?", agent="builder", projectId="order")
    gone = ask(agent, question="Settled long ago?", projectId="order")
    cancel(agent, gone["id"])

    page = visit.get("/?project=order").text

    listed = re.findall(r'id="card-(q_\w+)"', page)
    assert listed == [question["id"] for question in (urgent, sooner, normal, later)]
    assert "builder" in page
    assert gone["id"] not in page


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("type=approval", ["b"]),
        ("agent=builder", ["a"]),
        ("job=sift", ["c"]),
        ("words=BLUE", ["a"]),
        ("words=nothing+at+all", []),
        ("mine=1", ["a", "b", "c"]),
        ("type=nonsense", ["a", "b", "c"]),
    ],
)
def test_the_inbox_is_sifted(
    server: RunningServer, agent: httpx2.Client, visit: Visit, filters: str, found: list[str]
) -> None:
    if not visit.get("/?project=sifting").text.count("card-q_"):
        ask(agent, question="a: a blue one?", agent="builder", projectId="sifting", urgency="urgent")
        ask(agent, APPROVAL, question="b: an approval?", projectId="sifting")
        ask(agent, question="c: in a job?", job="sift", projectId="sifting", urgency="low")

    page = visit.get(f"/?project=sifting&{filters}").text

    assert [text[0] for text in re.findall(r"data-open>(.*?)</a>", page)] == found


def test_the_page_of_a_question_shows_all_that_helps_to_decide(agent: httpx2.Client, visit: Visit) -> None:
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
        context={"currentStep": "schema design", "reason": "the old one is full"},
        urgency="high",
        to="release-managers",
        phase="build",
        projectId="shop",
        defaultResponse={"value": "SQLite file"},
    )

    words = visit.words(f"/q/{question['id']}")

    for shown in (
        "builder asks in job pages",
        "high urgency",
        "Which database?",
        "PostgreSQL recommended A server Implies One more thing to run fast a server",
        "project shop phase build for release-managers",
        "currentStep schema design reason the old one is full default SQLite file",
        "job waiting for input",
        "May answer: any member. You may answer.",
        "can answer now Admin",
        "builder asked.",
        f"handraise answer {question['id']}",
    ):
        assert shown in words


def test_an_approval_shows_the_whole_action_and_its_digest(agent: httpx2.Client, visit: Visit) -> None:
    action = {
        "tool": "linear.create",
        "arguments": {"count": 5, "in": {"team": "web"}},
        "diff": "- a\n+ b",
        "risk": "high",
    }
    question = ask(agent, APPROVAL | {"action": action})

    words = visit.words(f"/q/{question['id']}")

    assert "What is to be approved high risk linear.create count 5 in 1 entry team web" in words
    assert f"+1 −1 lines - a + b {question['action']['digest']}" in words


def test_a_settled_question_says_how_it_ended_and_offers_no_answer(
    agent: httpx2.Client, admin: httpx2.Client, visit: Visit
) -> None:
    answered, expired, withdrawn = ask(agent, CHOICE), ask(agent, timeoutMinutes=ONE_SECOND), ask(agent)
    answer(admin, answered["id"], "pg")
    settled(agent, expired["id"])
    cancel(agent, withdrawn["id"], reason="found it")

    pages = [visit.words(f"/q/{each['id']}") for each in (answered, expired, withdrawn)]

    assert re.search(r"Admin \(api\) answered “PostgreSQL” at [-0-9]+ [:0-9]+ UTC\.", pages[0])
    assert re.search(r"Nobody answered by [-0-9]+ [:0-9]+ UTC; nothing was decided\.", pages[1])
    assert re.search(r"agent \(api\) withdrew it at [-0-9]+ [:0-9]+ UTC: found it\.", pages[2])
    assert [("Send answer" in words, "Send a late answer" in words) for words in pages] == [
        (False, False),
        (False, True),
        (False, False),
    ]


def test_a_paused_question_shows_the_thread(agent: httpx2.Client, admin: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, CHOICE)
    comment(admin, question["id"], "For which service?")

    words = visit.words(f"/q/{question['id']}")

    assert "clock paused" in words
    assert "Waiting for the asker's reply; the clock stands still." in words
    assert re.search(r"Thread Admin .* asked back For which service\?", words)


_FORM = {"type": "object", "properties": {"name": {"type": "string"}, "seats": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("body", "fields", "value"),
    [
        ({}, {"value": "PostgreSQL"}, "PostgreSQL"),
        ({"responseType": "number"}, {"value": "42"}, 42),
        ({"responseType": "boolean"}, {"value": "false"}, False),
        (CHOICE, {"option": "0"}, "postgresql"),
        (CHOICE | {"allowFreeText": True}, {"option": "free", "free": "DuckDB"}, "DuckDB"),
        (CHOICE | {"responseType": "multi_choice"}, {"option": ["0", "1"]}, ["postgresql", "lite"]),
        ({"schema": _FORM}, {"f.name": "Acme", "f.seats": "3"}, {"name": "Acme", "seats": 3}),
        (APPROVAL, {"value": "true"}, True),
        (APPROVAL, {"value": "false"}, False),
    ],
)
@pytest.mark.parametrize("by_script", [False, True], ids=["without a script", "by a script"])
def test_every_shape_is_answered_on_its_page(
    agent: httpx2.Client,
    visit: Visit,
    body: dict[str, object],
    fields: dict[str, object],
    value: object,
    by_script: bool,
) -> None:
    question = ask(agent, body)

    sent = visit.submit(f"/q/{question['id']}/answer", {**fields, "text": "because"}, by_script=by_script)

    assert sent.status_code == (200 if by_script else 303), sent.text
    outcome = agent.get(f"/api/questions/{question['id']}").json()["outcome"]
    assert outcome["response"]["value"] == value
    assert outcome["decidedBy"] == {"type": "person", "id": "p_admin", "name": "Admin", "surface": "web"}


def test_an_answer_that_does_not_fit_is_said_so_and_nothing_typed_is_lost(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, {"responseType": "number"})

    refused = visit.submit(f"/q/{question['id']}/answer", {"value": "many", "text": "I counted"})

    assert refused.status_code == 422
    assert "Answer with a number." in words_of(refused.text)
    assert 'value="I counted"' in refused.text
    assert agent.get(f"/api/questions/{question['id']}").json()["status"] == "pending"


def test_the_loser_is_told_who_won(agent: httpx2.Client, admin: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, CHOICE)
    answer(admin, question["id"], "pg")

    lost = visit.submit(f"/q/{question['id']}/answer", {"option": "1"}, by_script=True)

    assert (lost.status_code, lost.json()["state"]) == (409, "lost")
    assert "Admin (api) answered “PostgreSQL”" in lost.json()["sentence"]


def test_a_late_answer_is_offered_and_sent_on(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, timeoutMinutes=ONE_SECOND)
    settled(agent, question["id"])
    path = f"/q/{question['id']}/answer"

    late = visit.submit(path, {"value": "pg"}, by_script=True)
    sent = visit.submit(path, {"value": "pg", "late": "1"}, by_script=True)

    assert (late.status_code, late.json()["state"]) == (409, "late")
    assert (sent.status_code, sent.json()["sentence"]) == (200, "Your answer was sent on as a late answer.")
    assert "Late answer of Admin" in visit.words(f"/q/{question['id']}")


def test_sending_a_form_twice_answers_once(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, CHOICE)
    fields = {"option": "0", "operation": "once-only"}

    heard = [visit.submit(f"/q/{question['id']}/answer", fields, by_script=True) for _ in range(2)]

    assert [response.status_code for response in heard] == [200, 200]
    assert agent.get(f"/api/questions/{question['id']}").json()["version"] == 2


def test_an_approval_of_something_else_is_refused(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, APPROVAL | {"action": {"tool": "deploy", "arguments": {"to": "staging"}}})

    refused = visit.submit(f"/q/{question['id']}/answer", {"value": "true", "digest": "sha256:other"}, by_script=True)

    assert (refused.status_code, refused.json()["state"]) == (409, "changed")
    assert agent.get(f"/api/questions/{question['id']}").json()["status"] == "pending"


@pytest.mark.parametrize(("arguments", "edited"), [('{"to": "staging"}', False), ('{"to": "production"}', True)])
def test_arguments_are_edited_only_when_they_are_different(
    agent: httpx2.Client, visit: Visit, arguments: str, edited: bool
) -> None:
    action = {"tool": "deploy", "arguments": {"to": "staging"}, "editable": True}
    question = ask(agent, APPROVAL | {"action": action})
    fields = {"value": "true", "digest": question["action"]["digest"], "arguments": arguments}

    visit.submit(f"/q/{question['id']}/answer", fields)

    outcome = agent.get(f"/api/questions/{question['id']}").json()["outcome"]
    assert (outcome["response"].get("arguments") is not None) is edited
    assert (outcome.get("decidedDigest") is not None) is edited


def test_people_steer_from_the_page(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, CHOICE)
    for verb, fields in (
        ("comment", {"text": "Which size?"}),
        ("acknowledge", {}),
        ("snooze", {"minutes": "15"}),
        ("remind", {}),
        ("reassign", {"to": "Admin", "reason": "yours"}),
        ("withdraw", {"reason": "not needed"}),
    ):
        done = visit.submit(f"/q/{question['id']}/{verb}", fields)
        assert done.status_code == 303, (verb, words_of(done.text))
    words = visit.words(f"/q/{question['id']}")
    for told in (
        "Which size?",
        "is looking at it",
        "wants no reminders",
        "sent a reminder",
        "put this to",
        "not needed",
    ):
        assert told in words


def test_several_are_decided_together_but_never_the_risky_ones(agent: httpx2.Client, visit: Visit) -> None:
    low, other, high = (
        ask(agent, APPROVAL | {"action": {"tool": "rm", "arguments": {"n": n}, "risk": risk}})
        for n, risk in enumerate(("low", "medium", "high"))
    )
    ids = [question["id"] for question in (low, other, high)]

    before = visit.words("/batch?" + "&".join(f"id={each}" for each in ids))
    done = visit.submit("/batch", {"id": ids, "verdict": "approve", "text": "all fine"})

    assert "Decide 2 together" in before
    assert "Its risk is high; it is decided by itself, on its own page." in before
    assert "2 of 3 done" in words_of(done.text)
    found = [agent.get(f"/api/questions/{each}").json() for each in ids]
    assert [question["status"] for question in found] == ["answered", "answered", "pending"]
    assert found[0]["outcome"]["response"]["text"] == "all fine"


def test_a_decision_about_nothing_is_refused_with_a_sentence(visit: Visit) -> None:
    assert "Select some questions first." in words_of(visit.get("/batch").text)
    assert visit.get("/batch?id=q_nonsense").status_code == 404


def test_a_job_tells_what_it_waits_for_and_what_happened(agent: httpx2.Client, visit: Visit) -> None:
    question = ask(agent, CHOICE, job="release/1.4")
    agent.post("/api/jobs/release%2F1.4/progress", json={"text": "12 of 40 done"})

    listed, words = visit.words("/jobs?words=release"), visit.words("/jobs/release/1.4")

    assert "release/1.4 waiting for input" in listed
    assert re.search(r"waits for Which database\? since", words)
    assert "last heard 12 of 40 done" in words
    assert re.search(
        r"Timeline .* agent asked\. Which database\? .* The job is waiting for input\. .* 12 of 40 done", words
    )
    assert f'href="/q/{question["id"]}"' in visit.get("/jobs/release/1.4").text


def test_history_tells_how_each_question_ended_and_is_exported(
    agent: httpx2.Client, admin: httpx2.Client, visit: Visit
) -> None:
    formula = ask(agent, question='=HYPERLINK("http://evil.example")', agent="historian")
    answer(admin, formula["id"], "+1", text="@me")
    rejected = ask(agent, APPROVAL, agent="historian")
    answer(admin, rejected["id"], False, text="not today")
    asked = ask(agent, question="Still open?", agent="historian")

    words = visit.words("/history?agent=historian")
    exported = visit.get("/history.json?agent=historian").json()
    rows = list(csv.DictReader(visit.get("/history.csv?agent=historian").text.splitlines()))

    assert words.index("not today") < words.index("HYPERLINK")
    assert "rejected" in words
    assert asked["id"] not in json.dumps(exported)
    assert [question["id"] for question in exported] == [rejected["id"], formula["id"]]
    assert [(row["ended"], row["answer"], row["reason"], row["decided_by"]) for row in rows] == [
        ("answered", "rejected", "not today", "Admin"),
        ("answered", "'+1", "'@me", "Admin"),
    ]
    assert rows[1]["question"] == '\'=HYPERLINK("http://evil.example")'


def test_markup_from_agents_stays_text(agent: httpx2.Client, admin: httpx2.Client, visit: Visit) -> None:
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

    paths = (
        "/",
        "/history",
        *(f"/q/{q['id']}{part}" for q in (question, approval, cancelled) for part in ("", "/card")),
    )
    for page in (visit.get(path).text for path in paths):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "{{ 7*7 }}" in html.unescape(page)
        assert "<script>" not in page
        assert "<img src=x" not in page


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
def test_hidden_characters_are_made_visible(agent: httpx2.Client, visit: Visit, hidden: str, shown: str) -> None:
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

    home = visit.get("/").text
    page = visit.get(f"/q/{question['id']}").text
    approved = visit.get(f"/q/{approval['id']}").text

    visible = f"pay{shown}load"
    assert (home.count(visible) >= 2, page.count(visible) >= 6, approved.count(visible) >= 2) == (True, True, True)
    # Browsers send and we write line ends of forms as they are; everything else that hides is spelled out.
    assert hidden not in home + page + approved


@pytest.mark.parametrize(
    "path", ["/", "/q/q_00000000000000000000000000", "/jobs", "/history", "/history.csv", "/live", "/batch"]
)
def test_nobody_sees_anything_without_signing_in(agent: httpx2.Client, nobody: Visit, path: str) -> None:
    ask(agent, question="Nobody else may read this?")

    page, script = nobody.get(path), nobody.get(path, headers={"X-Handraise": "1"})

    assert (page.status_code, page.headers["location"].partition("?")[0]) == (303, "/login")
    assert (script.status_code, script.json()["state"]) == (401, "signed_out")
    assert "Nobody else" not in page.text + script.text


def test_a_link_signs_in_once_and_looking_at_it_uses_nothing_up(server: RunningServer, nobody: Visit) -> None:
    link = login_link(server)
    path = "/login/" + link.rsplit("/", 1)[1]
    for _ in range(20):
        assert "Sign in as Admin" in nobody.words(path)
        assert nobody.head(path).status_code == 200
    fields, headers = {"link": path.rsplit("/", 1)[1], "next": "/history"}, {"Origin": server.url}

    first = nobody.post("/login", data=fields, headers=headers)
    second = nobody.post("/login", data=fields, headers=headers)

    assert (first.status_code, first.headers["location"]) == (303, "/history")
    assert second.status_code == 410
    assert "This link was used before" in words_of(second.text)


def test_whoever_signs_out_is_out_at_once(server: RunningServer) -> None:
    with Visit(server) as visit, Visit(server) as stolen:
        stolen.cookies = visit.cookies
        assert stolen.get("/").status_code == 200
        visit.submit("/logout", {})
        assert stolen.get("/").status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "OURS", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "OURS", "Content-Type": "text/plain"},
    ],
)
def test_a_form_that_is_not_ours_changes_nothing(
    server: RunningServer, agent: httpx2.Client, visit: Visit, headers: dict[str, str]
) -> None:
    question = ask(agent, CHOICE)
    told = {name: server.url if value == "OURS" else value for name, value in headers.items()}
    content = f"token={visit.token()}&option=0".encode()
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    refused = visit.post(f"/q/{question['id']}/answer", content=content, headers=form | told)

    assert refused.status_code in (403, 415)
    assert agent.get(f"/api/questions/{question['id']}").json()["status"] == "pending"


@pytest.mark.parametrize("token", ["", "0" * 64, "ANOTHER"])
def test_a_form_needs_the_token_of_its_own_session(
    server: RunningServer, agent: httpx2.Client, visit: Visit, token: str
) -> None:
    question = ask(agent, CHOICE)
    if token == "ANOTHER":
        with Visit(server) as other:
            token = other.token()

    refused = visit.post(
        f"/q/{question['id']}/answer", data={"token": token, "option": "0"}, headers={"Origin": server.url}
    )

    assert refused.status_code == 403
    assert agent.get(f"/api/questions/{question['id']}").json()["status"] == "pending"


def test_a_member_sees_what_they_may_answer_and_nothing_else(
    server: RunningServer, agent: httpx2.Client, admin: httpx2.Client
) -> None:
    admin.post("/api/people", json={"name": "Mo", "role": "member"})
    open_to_all = ask(agent, question="Which colour?", projectId="rights", job="rights-a")
    approval = ask(agent, APPROVAL, projectId="rights", job="rights-b")

    with Visit(server, "Mo") as member:
        inbox, jobs = member.get("/?project=rights").text, member.words("/jobs?words=rights")
        pages = [member.get(f"/q/{approval['id']}{part}").status_code for part in ("", "/card", "/dialog")]
        job = member.get("/jobs/rights-b").status_code
        batch = member.get(f"/batch?id={approval['id']}").status_code
        answered = member.submit(f"/q/{approval['id']}/answer", {"value": "true"}).status_code

    assert (open_to_all["id"] in inbox, approval["id"] in inbox) == (True, False)
    assert ("rights-a" in jobs, "rights-b" in jobs) == (True, False)
    assert (pages, job, batch, answered) == ([404, 404, 404], 404, 404, 404)


@pytest.mark.parametrize("name", ["q_00000000000000000000000000", "nonsense", "%00", "%FF", "<script>"])
def test_a_question_that_does_not_exist_has_a_friendly_page(visit: Visit, name: str) -> None:
    missing = visit.get(f"/q/{name}")

    assert missing.status_code == 404
    assert "There is nothing here" in words_of(missing.text)


@pytest.mark.parametrize("path", ["/", "/docs", "/login", "/q/nonsense", "/jobs", "/history"])
def test_pages_load_nothing_from_elsewhere_and_run_only_our_own_scripts(visit: Visit, path: str) -> None:
    response = visit.get(path)

    assert {name: response.headers[name] for name in _SECURITY} == _SECURITY
    rules = dict(rule.strip().split(" ", 1) for rule in response.headers["content-security-policy"].split(";"))
    assert {name: rules[name] for name in _POLICY} == _POLICY
    assert re.findall(r"<script(?![^>]*src=)", response.text) == []
    assert re.findall(r"<style|<[a-z][^>]*\s(?:style|on\w+)=", response.text) == []
    links = re.findall(r'(?:src|href)="([^"]*)"', response.text)
    assert [link for link in links if not link.startswith(("/", "#")) or link.startswith("//")] == []


def test_styles_and_scripts_are_kept_by_browsers_and_change_their_address_when_they_change(visit: Visit) -> None:
    addresses = re.findall(r'"(/static/[^"]+)"', visit.get("/").text)
    kept = [visit.get(address) for address in addresses]

    assert len(addresses) >= 3
    assert {response.status_code for response in kept} == {200}
    assert all("immutable" in response.headers["cache-control"] for response in kept)
    assert visit.get("/static/other/handraise.css").headers["cache-control"] == "no-cache"
    assert visit.get("/static/x/nothing.css").status_code == 404


def test_the_reference_lists_every_call_and_its_fields(nobody: Visit) -> None:
    document = nobody.get("/openapi.json").json()
    words = nobody.words("/docs")

    calls = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert len(calls) >= 13
    assert [call for call in calls if f"{call[0]} {call[1]}" not in words] == []
    fields = document["components"]["schemas"]["AskBody"]["properties"]
    assert [name for name in fields if name not in words] == []
    assert "question string, required" in words
    assert "urgency low | normal | high | urgent" in words


def test_a_job_that_asked_very_much_shows_what_it_asked_last(
    agent: httpx2.Client, admin: httpx2.Client, visit: Visit
) -> None:
    for number in range(101):
        question = ask(agent, job="talkative", question=f"Number {number}?", responseType="boolean")
        answer(admin, question["id"], True)
    waiting = ask(agent, job="talkative", question="And now?")

    page = visit.get("/jobs/talkative").text

    assert f'id="card-{waiting["id"]}"' in page
    assert "Number 100?" in page
    assert '<a href="/history?job=talkative">What it asked before</a>' in page
