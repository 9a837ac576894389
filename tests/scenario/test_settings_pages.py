"""The settings pages: people, rules, keys and webhooks, changed as an admin does and refused to everybody else."""

import html
import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.scenario.talk import APPROVAL, CHOICE, Json, answer, ask, ok
from tests.support.browsing import Visit, words_of
from tests.support.servers import RunningServer, running

PAGES = (
    "/settings",
    "/settings/people",
    "/settings/rules",
    "/settings/policy",
    "/settings/agents",
    "/settings/webhooks",
)
GROUP = '\n[groups]\nnight-watch = ["Nell"]\n'


@pytest.fixture(scope="module")
def visit(server: RunningServer) -> Iterator[Visit]:
    """The admin, signed in."""
    with Visit(server) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def member(server: RunningServer, admin: httpx2.Client) -> Iterator[Visit]:
    """Somebody who is no admin, signed in."""
    assert admin.post("/api/people", json={"name": "Milo", "role": "member"}).status_code == 201
    with Visit(server, "Milo") as visitor:
        yield visitor


def person(admin: httpx2.Client, name: str) -> Json:
    found: list[Json] = [each for each in ok(admin.get("/api/people"))["people"] if each["name"] == name]
    (one,) = found
    return one


def add(visit: Visit, name: str, role: str = "approver", handles: str = "") -> None:
    added = visit.submit("/settings/people", {"name": name, "role": role, "handles": handles})
    assert added.status_code == 303, words_of(added.text)


def secret_in(page: str) -> str:
    found = re.search(r'class="secret"><code>([^<]+)<', page)
    assert found is not None, words_of(page)
    return found[1]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens_and_leads_to_the_others(visit: Visit, path: str) -> None:
    page = visit.get(path)

    assert page.status_code == 200
    assert all(f'href="{other}"' in page.text for other in PAGES)


def test_somebody_added_has_their_role_and_handles_and_may_answer(
    server: RunningServer, admin: httpx2.Client, agent: httpx2.Client, visit: Visit
) -> None:
    question = ask(agent, APPROVAL)

    add(visit, "Ada", "approver", "email:Ada@example.com slack:U0ADA")

    ada = person(admin, "Ada")
    assert (ada["role"], ada["handles"]) == ("approver", ["email:ada@example.com", "slack:U0ADA"])
    with server.client(server.new_key("ada's phone", "answer", "Ada")) as phone:
        assert answer(phone, question["id"], True).status_code == 200


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "", "role": "member"}, "A name has 1 to 100 printable characters."),
        ({"name": "Bea", "role": "king"}, "There is no role “king”."),
        ({"name": "Bea", "role": "member", "handles": "pigeon:7"}, "“pigeon:7” is no handle."),
        ({"name": "admin", "role": "member"}, "There is somebody called “admin” already"),
    ],
)
def test_what_is_wrong_with_a_newcomer_is_said_and_what_was_typed_stays(
    admin: httpx2.Client, visit: Visit, fields: dict[str, str], sentence: str
) -> None:
    before = ok(admin.get("/api/people"))

    refused = visit.submit("/settings/people", {"handles": "", **fields})

    assert refused.status_code == 422
    assert sentence in words_of(refused.text)
    assert f'value="{fields["name"]}"' in refused.text
    assert ok(admin.get("/api/people")) == before


def test_a_person_is_changed_in_one_form(admin: httpx2.Client, visit: Visit) -> None:
    add(visit, "Cleo")
    id = person(admin, "Cleo")["id"]

    changed = visit.submit(
        f"/settings/people/{id}/change",
        {
            "name": "Cleopatra",
            "role": "lead",
            "handles": "email:cleo@example.com",
            "zone": "Africa/Cairo",
            "working": "mon-thu 09:00-17:00",
            "quiet": "daily 22:00-07:00",
        },
    )

    assert changed.status_code == 303
    now = person(admin, "Cleopatra")
    assert (now["id"], now["role"], now["zone"], now["handles"]) == (
        id,
        "lead",
        "Africa/Cairo",
        ["email:cleo@example.com"],
    )
    page = visit.words(f"/settings/people/{id}")
    assert "Cleopatra" in page
    assert 'value="mon-thu 09:00-17:00"' in visit.get(f"/settings/people/{id}").text


def test_hours_that_are_not_understood_change_nothing_and_stay_typed(admin: httpx2.Client, visit: Visit) -> None:
    add(visit, "Dora")
    before = person(admin, "Dora")
    fields = {"name": "Dora", "role": "approver", "handles": "", "zone": "Europe/Berln", "working": "", "quiet": ""}

    refused = visit.submit(f"/settings/people/{before['id']}/change", fields)

    assert refused.status_code == 422
    assert "Did you mean “Europe/Berlin”?" in words_of(refused.text)
    assert 'value="Europe/Berln"' in refused.text
    assert person(admin, "Dora") == before


def test_a_field_that_was_emptied_stays_empty_when_another_is_wrong(visit: Visit, admin: httpx2.Client) -> None:
    add(visit, "Edda", handles="email:edda@example.com")
    id = person(admin, "Edda")["id"]
    fields = {"name": "Edda", "role": "approver", "handles": "", "zone": "nowhere", "working": "", "quiet": ""}

    refused = visit.submit(f"/settings/people/{id}/change", fields)

    assert 'name="handles" value=""' in refused.text


def test_the_last_admin_cannot_step_down_or_be_removed(admin: httpx2.Client, visit: Visit) -> None:
    stepped_down = visit.submit(
        "/settings/people/p_admin/change",
        {"name": "Admin", "role": "member", "handles": "", "zone": "UTC", "working": "", "quiet": ""},
    )
    removed = visit.submit("/settings/people/p_admin/remove", {"sure": "yes"})

    for refused in (stepped_down, removed):
        assert refused.status_code == 422
        assert "Admin is the only admin" in words_of(refused.text)
    assert person(admin, "Admin")["role"] == "admin"


def test_somebody_away_has_a_stand_in_until_they_are_back(admin: httpx2.Client, visit: Visit) -> None:
    add(visit, "Fay")
    add(visit, "Gus")
    id = person(admin, "Fay")["id"]

    left = visit.submit(f"/settings/people/{id}/away", {"until": "3d", "stand_in": "Gus"})

    assert left.status_code == 303
    assert "Gus stands in" in visit.words(f"/settings/people/{id}")
    visit.submit(f"/settings/people/{id}/away", {"back": "1"})
    assert person(admin, "Fay")["awayUntil"] is None


@pytest.mark.parametrize(
    ("until", "sentence"),
    [
        ("soon", "Write until when as a date, a time or a span such as 3d."),
        ("2001-01-01", "Away until when? That instant has passed."),
        ("9" * 30 + "d", "Write until when as a date, a time or a span such as 3d."),
    ],
)
def test_an_absence_that_makes_no_sense_is_refused(visit: Visit, until: str, sentence: str) -> None:
    refused = visit.submit("/settings/away", {"until": until})

    assert refused.status_code == 422
    assert sentence in words_of(refused.text)


def test_people_change_their_own_hours_and_nothing_else(admin: httpx2.Client, member: Visit) -> None:
    changed = member.submit(
        "/settings", {"zone": "Asia/Tokyo", "working": "mon-fri 10:00-18:00", "quiet": "", "role": "admin"}
    )

    assert changed.status_code == 303
    milo = person(admin, "Milo")
    assert (milo["zone"], milo["role"]) == ("Asia/Tokyo", "member")


def test_an_account_that_somebody_else_was_known_by_makes_them_one_person(admin: httpx2.Client, visit: Visit) -> None:
    add(visit, "Hal", "approver")
    add(visit, "U0HAL", "member", "slack:U0HAL")
    hal = person(admin, "Hal")["id"]

    linked = visit.submit(f"/settings/people/{hal}/link", {"handle": "slack:U0HAL"})

    assert linked.status_code == 303
    assert person(admin, "Hal")["handles"] == ["slack:U0HAL"]
    assert "U0HAL" not in [each["name"] for each in ok(admin.get("/api/people"))["people"] if each["active"]]


def test_a_link_made_by_an_admin_signs_that_person_in_once(
    server: RunningServer, admin: httpx2.Client, visit: Visit
) -> None:
    add(visit, "Ines")
    id = person(admin, "Ines")["id"]

    link = secret_in(visit.submit(f"/settings/people/{id}/sign_in_link", {}).text)

    secret = link.rsplit("/", 1)[1]
    origin = {"Origin": server.url}
    with httpx2.Client(base_url=server.url) as browser:
        assert browser.post("/login", data={"link": secret}, headers=origin).status_code == 303
        assert "Ines" in words_of(browser.get("/settings").text)
        assert browser.post("/login", data={"link": secret}, headers=origin).status_code == 410


def test_ending_sessions_and_removing_sign_people_out_at_once(
    server: RunningServer, admin: httpx2.Client, visit: Visit
) -> None:
    add(visit, "Jo")
    id = person(admin, "Jo")["id"]

    with Visit(server, "Jo") as first:
        visit.submit(f"/settings/people/{id}/end_sessions", {})
        assert first.get("/").status_code == 303
    with Visit(server, "Jo") as second:
        unsure = visit.submit(f"/settings/people/{id}/remove", {})
        assert unsure.status_code == 422
        assert second.get("/").status_code == 200
        visit.submit(f"/settings/people/{id}/remove", {"sure": "yes"})
        assert second.get("/").status_code == 303
    assert "was removed and answers nothing any more" in visit.words(f"/settings/people/{id}")


def test_rules_are_told_in_words(visit: Visit) -> None:
    words = visit.words("/settings/rules")

    assert "approvals kind approval 1 approver or above" in words
    assert "after 80% of the time: escalate to every lead by direct message and email" in words
    assert "the chat channel ; if that fails the inbox" in words or "the chat channel; if that fails the inbox" in words


@pytest.fixture
def policy(visit: Visit, admin: httpx2.Client) -> Iterator[str]:
    """The text in force, put back afterwards."""
    if "Nell" not in visit.words("/settings/people"):
        add(visit, "Nell")
    before: str = ok(admin.get("/api/policy"))["text"]
    yield before
    now = ok(admin.get("/api/policy"))
    if now["text"] != before:
        put_back = admin.put("/api/policy", json={"text": before, "version": now["version"]})
        assert put_back.status_code == 200, put_back.text


def policy_form(visit: Visit) -> dict[str, str]:
    page = visit.get("/settings/policy").text
    version = re.search(r'name="version" value="(\d+)"', page)
    assert version is not None
    return {"version": version[1]}


def with_group(text: str) -> str:
    return text.replace("# Who may answer. Roles", GROUP + "\n# Who may answer. Roles")


def test_a_policy_is_saved_only_after_its_difference_was_seen(admin: httpx2.Client, visit: Visit, policy: str) -> None:
    form = policy_form(visit) | {"text": with_group(policy)}

    unseen = visit.submit("/settings/policy", form | {"do": "save", "seen": ""})
    assert unseen.status_code == 409
    assert "This is what would change. Look at it, then save it." in words_of(unseen.text)
    assert ok(admin.get("/api/policy"))["text"] == policy
    shown = visit.submit("/settings/policy", form | {"do": "diff"})
    seen = re.search(r'name="seen" value="([^"]*)"', shown.text)
    assert seen is not None
    saved = visit.submit("/settings/policy", form | {"do": "save", "seen": html.unescape(seen[1])})

    assert saved.status_code == 303
    assert "night-watch Nell" in visit.words("/settings/people")
    assert "changed the policy to version" in visit.words("/settings/policy")


def test_every_problem_of_a_policy_is_listed_and_nothing_is_lost(visit: Visit, policy: str) -> None:
    broken = policy.replace('kind = "approval"', 'kind = "aproval"').replace('role = "member"', 'role = "king"')

    refused = visit.submit("/settings/policy", policy_form(visit) | {"text": broken, "do": "diff"})

    assert refused.status_code == 422
    words = words_of(refused.text)
    assert "This is not a policy yet; nothing was saved." in words
    assert "answer[0].kind" in words
    assert "answer[1].by[0].role" in words
    assert "aproval" in refused.text


def test_whoever_was_second_sees_that_somebody_was_first(admin: httpx2.Client, visit: Visit, policy: str) -> None:
    form = policy_form(visit) | {"text": with_group(policy)}
    shown = visit.submit("/settings/policy", form | {"do": "diff"})
    seen = re.search(r'name="seen" value="([^"]*)"', shown.text)
    assert seen is not None
    now = ok(admin.get("/api/policy"))
    ok(admin.put("/api/policy", json={"text": policy + "# theirs\n", "version": now["version"]}))

    late = visit.submit("/settings/policy", form | {"do": "save", "seen": html.unescape(seen[1])})

    assert late.status_code == 409
    assert "# theirs" in ok(admin.get("/api/policy"))["text"]


def test_explain_stands_beside_and_tells_what_a_draft_would_mean(visit: Visit, policy: str) -> None:
    draft = with_group(policy).replace('by = [{ role = "approver" }]', 'by = [{ group = "night-watch" }]')
    form = policy_form(visit) | {"type": "approval", "at": "2026-11-20T18:00:00Z", "do": "explain"}

    now = words_of(visit.submit("/settings/policy", form | {"text": policy}).text)
    then = words_of(visit.submit("/settings/policy", form | {"text": draft}).text)

    assert "That is Nell now." not in now
    assert "That is Nell now." in then
    assert "asked Fri 2026-11-20 18:00 UTC" in then


def test_an_explanation_of_nonsense_is_a_sentence(visit: Visit, policy: str) -> None:
    form = policy_form(visit) | {"text": policy, "do": "explain", "type": "approval"}

    for fields in ({"at": "yesterday"}, {"type": "riddle"}, {"at": "9999-12-31T23:59:59Z"}):
        explained = visit.submit("/settings/policy", form | fields)
        assert explained.status_code == 200, fields
        assert "What would happen" in words_of(explained.text)


def test_a_key_is_shown_once_and_works_until_it_is_revoked(server: RunningServer, visit: Visit) -> None:
    made = visit.submit("/settings/agents", {"name": "builder", "scope": ["ask", "read"], "owner": "Admin"})
    key = secret_in(made.text)

    with server.client(key) as builder:
        ask(builder, CHOICE)
        page = visit.get("/settings/agents").text
        assert key not in page
        assert "an agent of Admin" in words_of(page)
        id = re.findall(r"/settings/agents/(k_[0-9a-f]+)/revoke", page)[-1]
        assert visit.submit(f"/settings/agents/{id}/revoke", {}).status_code == 422
        assert visit.submit(f"/settings/agents/{id}/revoke", {"sure": "yes"}).status_code == 303
        _until_refused(builder)


def test_a_key_that_makes_no_sense_is_not_made(visit: Visit) -> None:
    before = visit.get("/settings/agents").text.count("/revoke")

    refused = visit.submit("/settings/agents", {"name": "nobody's", "scope": ["answer"]})

    assert refused.status_code == 422
    assert "A key that answers belongs to somebody: say whose it is." in words_of(refused.text)
    assert visit.get("/settings/agents").text.count("/revoke") == before


def test_whose_agent_a_key_is_can_be_said_later(visit: Visit) -> None:
    visit.submit("/settings/agents", {"name": "orphan", "scope": ["ask"]})
    assert "nobody said whose agent it is" in visit.words("/settings/agents")
    id = re.findall(r"/settings/agents/(k_[0-9a-f]+)/owner", visit.get("/settings/agents").text)[-1]

    visit.submit(f"/settings/agents/{id}/owner", {"owner": "Admin"})

    assert "nobody said whose agent it is" not in visit.words("/settings/agents")


def test_webhooks_are_tried_rotated_and_deleted(agent: httpx2.Client, visit: Visit) -> None:
    made = agent.post("/api/webhooks", json={"url": "https://hooks.example.com/a", "events": ["question.answered"]})
    id, secret = made.json()["id"], made.json()["secret"]

    visit.submit(f"/settings/webhooks/{id}/test", {})
    rotated = visit.submit(f"/settings/webhooks/{id}/rotate", {})

    words = visit.words("/settings/webhooks")
    assert "webhook.test" in words
    assert secret not in rotated.text
    assert secret_in(rotated.text).startswith("whsec_")
    assert secret_in(rotated.text) not in visit.get("/settings/webhooks").text
    assert visit.submit(f"/settings/webhooks/{id}/delete", {}).status_code == 422
    visit.submit(f"/settings/webhooks/{id}/delete", {"sure": "yes"})
    assert ok(agent.get("/api/webhooks")) == {"webhooks": []}
    assert "the endpoint was removed" in visit.words("/settings/webhooks?state=refused")
    assert "No message is dead." in visit.words("/settings/webhooks?state=dead")


@pytest.mark.parametrize("path", ["/settings/agents", "/settings/webhooks", "/settings/people/p_admin"])
def test_only_admins_see_keys_webhooks_and_other_people(member: Visit, path: str) -> None:
    refused = member.get(path)

    assert refused.status_code == 403
    assert "Only an admin" in words_of(refused.text)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/settings/people", {"name": "Mole", "role": "admin"}),
        ("/settings/people/p_admin/change", {"name": "Owned", "role": "member"}),
        ("/settings/people/p_admin/link", {"handle": "slack:U0MILO"}),
        ("/settings/people/p_admin/away", {"until": "3d"}),
        ("/settings/people/p_admin/sign_in_link", {}),
        ("/settings/people/p_admin/end_sessions", {}),
        ("/settings/people/p_admin/remove", {"sure": "yes"}),
        ("/settings/agents", {"name": "mole", "scope": "admin"}),
        ("/settings/agents/k_1/revoke", {"sure": "yes"}),
        ("/settings/agents/k_1/owner", {"owner": "Milo"}),
        ("/settings/webhooks/wh_1/delete", {"sure": "yes"}),
        ("/settings/webhooks/wh_1/rotate", {}),
        ("/settings/webhooks/wh_1/test", {}),
    ],
)
def test_whoever_is_no_admin_changes_nothing(
    admin: httpx2.Client, visit: Visit, member: Visit, path: str, fields: dict[str, str]
) -> None:
    before = ok(admin.get("/api/people"))

    refused = member.submit(path, fields)

    assert refused.status_code == 403
    assert ok(admin.get("/api/people")) == before
    assert visit.get("/settings").status_code == 200


def test_a_member_may_try_a_policy_but_not_save_it(admin: httpx2.Client, member: Visit, policy: str) -> None:
    form = policy_form(member) | {"text": with_group(policy)}
    shown = member.submit("/settings/policy", form | {"do": "diff"})
    seen = re.search(r'name="seen" value="([^"]*)"', shown.text)
    assert seen is not None

    refused = member.submit("/settings/policy", form | {"do": "save", "seen": html.unescape(seen[1])})

    assert "Only an admin saves it." in words_of(shown.text)
    assert refused.status_code == 403
    assert ok(admin.get("/api/policy"))["text"] == policy


@pytest.mark.parametrize("path", ["/settings/people/p_nobody", "/settings/people/%00"])
def test_somebody_who_does_not_exist_is_a_sentence(visit: Visit, path: str) -> None:
    missing = visit.get(path)

    assert missing.status_code == 404
    assert "There is nobody called" in words_of(missing.text)


def test_names_of_people_and_agents_are_text(visit: Visit) -> None:
    name = "<b>Bob</b> \u202eevil"

    add_bob = visit.submit("/settings/people", {"name": "<b>Bob</b>", "role": "member", "handles": ""})
    hidden = visit.submit("/settings/people", {"name": name, "role": "member", "handles": ""})
    key = visit.submit("/settings/agents", {"name": "<i>key</i>", "scope": ["ask"]})

    assert add_bob.status_code == 303
    assert hidden.status_code == 422
    assert "<b>Bob" not in visit.get("/settings/people").text
    assert "<i>key" not in key.text + visit.get("/settings/agents").text


def test_settings_work_with_oidc_handles_and_a_fresh_policy(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("fresh")) as server, Visit(server) as visit:
        words = visit.words("/settings/rules")
        add(visit, "Olga", "lead", "oidc:248289761001")

        assert "the shipped policy" in words
        assert "oidc:248289761001" in visit.words("/settings/people")


def _until_refused(client: httpx2.Client) -> None:
    """Another process may have looked the key up a moment ago; after a second it counts nowhere."""
    for _ in range(2000):
        if client.post("/api/questions", json={"question": "Still there?"}).status_code == 401:
            return
    raise AssertionError("a revoked key still asks")
