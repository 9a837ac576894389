"""Starting the server, and the operator's commands: the first start, a bad start, keys, health."""

import json
import re
import socket
import sqlite3
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from adapters.sql.database import HEAD
from tests.scenario.talk import CHOICE, answer, ask, happened, look, ok, problem
from tests.support.postgres import Postgres
from tests.support.servers import BIN, RunningServer, clean_environment, running
from tests.support.waiting import eventually

_NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


def _command(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [str(BIN / "handraise-bot"), *words],
        cwd=folder,
        env=clean_environment(**settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _credentials(data_dir: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((data_dir / "credentials.json").read_text())
    return found


def _works(server: RunningServer, key: str) -> bool:
    with server.client(key) as client:
        return client.get("/api/questions/pending").status_code == 200


# the first start


def test_the_first_start_says_where_it_is_and_nothing_else(data_dir: Path) -> None:
    data_dir.mkdir()
    with subprocess.Popen(
        [str(BIN / "handraise-bot"), "serve", "--port", "0", "--data-dir", str(data_dir)],
        cwd=data_dir,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        url = _credentials(data_dir)["url"]
        health = httpx2.get(f"{url}/healthz").json()
        process.terminate()
        rest, log = process.stdout.read(), process.stderr.read()

    assert re.fullmatch(r"handraise ready at http://127\.0\.0\.1:\d+\n", line)
    assert line == f"handraise ready at {url}\n"
    assert health == {"status": "ok"}
    assert (rest, log, process.returncode) == ("", "", 0)


def test_the_first_start_leaves_credentials_that_work_for_their_owner_only(data_dir: Path) -> None:
    with running(data_dir) as server:
        credentials = _credentials(data_dir)
        with server.client(credentials["agentKey"]) as agent, server.client(credentials["adminKey"]) as admin:
            question = ask(agent)
            own = answer(agent, question["id"], "main")
            answered = answer(admin, question["id"], "main")

    assert list(credentials) == ["url", "adminKey", "agentKey"]
    assert credentials["url"] == server.url
    assert re.fullmatch(r"hr_[\w-]{43}", credentials["adminKey"])
    assert re.fullmatch(r"hr_[\w-]{43}", credentials["agentKey"])
    assert credentials["adminKey"] != credentials["agentKey"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in data_dir.glob("[ch]*")} == {0o600}
    assert problem(own) == (403, "scope_missing")
    assert ok(answered)["question"]["respondedBy"] == "Admin"


def test_the_keys_of_the_first_start_are_listed_with_their_scopes(data_dir: Path) -> None:
    with running(data_dir):
        listed = json.loads(_command(data_dir, "keys", "list", "--json", "--data-dir", str(data_dir)).stdout)

    assert [(key["name"], key["scopes"], key["person"]) for key in listed] == [
        ("agent", ["ask", "read"], None),
        ("admin", ["answer", "admin"], "Admin"),
    ]
    assert [key["hint"] for key in listed] == [_credentials(data_dir)[name][:8] for name in ("agentKey", "adminKey")]


def test_the_second_start_keeps_the_keys_and_the_questions(data_dir: Path) -> None:
    with running(data_dir) as first, first.client() as agent:
        question = ask(agent, CHOICE)
        before = _credentials(data_dir)

    with running(data_dir) as second, second.client(before["agentKey"]) as agent:
        found = look(agent, question["id"])
        after = _credentials(data_dir)

    assert found["question"] == "Which database?"
    assert after == before | {"url": second.url}


def test_a_fresh_database_beside_old_credentials_gets_new_keys(data_dir: Path, tmp_path: Path) -> None:
    with running(data_dir):
        old = _credentials(data_dir)

    with running(data_dir, database_url=f"sqlite:///{tmp_path / 'other.db'}") as server:
        new = _credentials(data_dir)
        works = {name: _works(server, new[name]) for name in ("agentKey", "adminKey")}
        with server.client(old["adminKey"]) as stale:
            refused = stale.get("/api/jobs")

    assert works == {"agentKey": True, "adminKey": True}
    assert {new["agentKey"], new["adminKey"]} & {old["agentKey"], old["adminKey"]} == set()
    assert problem(refused) == (401, "key_unknown")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"agentKey": 5}', '{"agentKey": "hr_made_up"}'])
def test_spoiled_credentials_are_written_anew(data_dir: Path, content: str) -> None:
    data_dir.mkdir()
    (data_dir / "credentials.json").write_text(content)

    with running(data_dir) as server:
        works = [_works(server, server.agent_key), _works(server, server.admin_key)]

    assert works == [True, True]
    assert {stat.S_IMODE(file.stat().st_mode) for file in data_dir.glob("[ch]*")} == {0o600}


def test_settings_come_from_a_file_as_well(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "handraise.toml").write_text('public_url = "https://ask.example.com/"\nmin_time_limit = "2s"\n')

    with running(data_dir, min_time_limit="1s") as server, server.client() as agent:
        question = ask(agent, timeoutMinutes=1 / 60)

    assert question["url"] == f"https://ask.example.com/q/{question['id']}"


def test_the_server_runs_on_postgresql_too(data_dir: Path, postgres: Postgres) -> None:
    url = postgres.new_database()
    with running(data_dir, database_url=url) as server, server.client() as agent, server.admin() as admin:
        question = ask(agent, CHOICE, job="elsewhere")
        ok(answer(admin, question["id"], "pg"))
        loser = answer(admin, question["id"], "lite")
        names = happened(agent, question["id"])

    assert problem(loser) == (409, "question_already_answered")
    assert names == ["question.asked", "question.answered"]


# a bad start


def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = _command(tmp_path, "serve", "--port", port)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Cannot listen on 127.0.0.1:{port}: Address already in use. "
        "Is it running already? Choose another with --port.\n"
    )


def test_a_foreign_address_is_said_in_one_sentence(tmp_path: Path) -> None:
    done = _command(tmp_path, "serve", "--port", "0", "--host", "203.0.113.7")

    assert done.returncode == 1
    assert done.stderr == (
        "Cannot listen on 203.0.113.7:0: Cannot assign requested address. "
        "Is it running already? Choose another with --port.\n"
    )


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("migrate",), ("keys", "list")])
def test_an_unreachable_database_is_said_in_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = _command(tmp_path, *words, "--database-url", _NOWHERE)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("The database cannot be reached: connection failed: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_no_database_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is not a database\n" * 100)

    done = _command(tmp_path, "serve", "--port", "0", "--database-url", "sqlite:///notes.txt")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The database cannot be reached: file is not a database\n"


def test_a_data_folder_that_is_a_file_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    done = _command(tmp_path, "serve", "--port", "0", "--data-dir", "taken")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "The data folder taken cannot be used: File exists. Set HANDRAISE_DATA_DIR to a folder of yours.\n"
    )


def test_a_database_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    _command(tmp_path, "migrate", "--data-dir", ".")
    with sqlite3.connect(tmp_path / "handraise.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    answers = [_command(tmp_path, *words, "--data-dir", ".") for words in (("serve", "--port", "0"), ("migrate",))]

    sentence = "The database has schema 9999, which this release does not know. Use the newer release.\n"
    assert [(done.returncode, done.stderr) for done in answers] == [(1, sentence), (1, sentence)]


_BAD_SETTINGS = {
    "port": "abc",
    "min_time_limit": "soon",
    "rate_limit": "many",
    "log_format": "xml",
    "public_url": "ask.example.com",
    "database_url": "mysql://db/handraise",
}
_BAD_SETTINGS_TOLD = {
    "HANDRAISE_PORT: Input should be a valid integer, unable to parse string as an integer",
    "HANDRAISE_MIN_TIME_LIMIT: write a duration as a number with a unit, such as 30s, 5m, 2h or 1d",
    "HANDRAISE_RATE_LIMIT: write a rate as COUNT/PERIOD, such as 600/minute, or off",
    "HANDRAISE_LOG_FORMAT: Input should be 'console' or 'json'",
    "HANDRAISE_PUBLIC_URL: write it as http://HOST or https://HOST",
    "HANDRAISE_DATABASE_URL: There is no support for mysql; use sqlite:/// or postgresql://.",
}


@pytest.mark.parametrize("words", [("serve",), ("migrate",), ("keys", "list")])
def test_all_bad_settings_are_told_at_once(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = _command(tmp_path, *words, **_BAD_SETTINGS)

    first, *rest = done.stderr.splitlines()
    assert (done.returncode, done.stdout, first) == (1, "", "The settings cannot be used:")
    assert {line.strip() for line in rest} == _BAD_SETTINGS_TOLD


def test_limits_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    done = _command(tmp_path, "serve", min_time_limit="2h", max_time_limit="1h")

    assert done.returncode == 1
    assert done.stderr == (
        "The settings cannot be used:\n  MIN_TIME_LIMIT must be above zero and not above MAX_TIME_LIMIT\n"
    )


def test_a_settings_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "handraise.toml").write_text("port = [")

    done = _command(tmp_path, "serve")

    assert done.returncode == 1
    assert done.stderr.startswith("The settings cannot be used:\n  handraise.toml cannot be read: ")
    assert len(done.stderr.splitlines()) == 2


# check and migrate


def test_check_finds_nothing_wrong_before_and_after_the_first_start(tmp_path: Path) -> None:
    before = _command(tmp_path, "check", "--data-dir", "data")
    with running(tmp_path / "data"):
        during = _command(tmp_path, "check", "--data-dir", "data")

    assert (before.returncode, before.stdout.splitlines()) == (
        0,
        [
            "ok       settings",
            "ok       data folder data",
            "ok       database sqlite:///data/handraise.db: empty; the first start fills it",
        ],
    )
    assert (during.returncode, during.stdout.splitlines()) == (
        0,
        [
            "ok       settings",
            "ok       data folder data",
            f"ok       database sqlite:///data/handraise.db: schema {HEAD}",
        ],
    )


def test_check_tells_every_problem_at_once(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")

    settings = _command(tmp_path, "check", **_BAD_SETTINGS)
    places = _command(tmp_path, "check", "--data-dir", "taken", "--database-url", _NOWHERE)

    assert settings.returncode == 1
    assert set(settings.stdout.splitlines()) == {f"PROBLEM  {told}" for told in _BAD_SETTINGS_TOLD}
    assert places.returncode == 1
    assert [line.split(":")[0] for line in places.stdout.splitlines()] == [
        "ok       settings",
        "PROBLEM  The data folder taken cannot be used",
        "PROBLEM  The database cannot be reached",
    ]


def test_check_does_not_show_the_database_password(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.new_database().replace("postgresql://postgres:@", "postgresql://postgres:s3cret@")

    done = _command(tmp_path, "check", database_url=url)

    assert "s3cret" in url
    assert "s3cret" not in done.stdout + done.stderr


def test_migrate_says_what_it_did(tmp_path: Path) -> None:
    first = _command(tmp_path, "migrate")
    second = _command(tmp_path, "migrate")

    assert (first.returncode, first.stdout) == (0, f"The schema is now at {HEAD}.\n")
    assert (second.returncode, second.stdout) == (0, f"The schema is already at {HEAD}.\n")


# keys


def _keys(server: RunningServer, *words: str) -> subprocess.CompletedProcess[str]:
    return _command(server.data_dir, "keys", *words, "--data-dir", str(server.data_dir))


def _listed(server: RunningServer) -> dict[str, dict[str, Any]]:
    return {key["id"]: key for key in json.loads(_keys(server, "list", "--json").stdout)}


def test_a_new_key_is_shown_once_and_works_at_once(server: RunningServer) -> None:
    done = _keys(server, "create", "--name", "builder", "--scope", "ask", "--scope", "read")

    secret = done.stdout.strip()
    hint = secret[:8]
    listed = _keys(server, "list")
    with server.client(secret) as builder:
        question = ask(builder)
    assert done.returncode == 0
    assert re.fullmatch(r"hr_[\w-]{43}\n", done.stdout)
    assert re.fullmatch(
        r"Key k_[0-9a-f]{12} \(ask, read\)\. It is not shown again\.\n"
        r"Callbacks of its questions are signed with whsec_\S+\n",
        done.stderr,
    )
    assert question["askedBy"] == "builder"
    assert re.search(
        rf"^k_[0-9a-f]{{12}}  {re.escape(hint)}…  active   never used +ask,read +builder$", listed.stdout, re.MULTILINE
    )
    assert secret not in listed.stdout


def test_a_key_of_a_person_is_made_and_listed_as_json(server: RunningServer) -> None:
    made = json.loads(
        _keys(server, "create", "--name", "phone", "--scope", "answer,admin", "--person", "Admin", "--json").stdout
    )

    listed = _listed(server)[made["id"]]
    created = datetime.fromisoformat(listed["createdAt"])
    assert made == listed | {"key": made["key"], "callbackSecret": made["callbackSecret"]}
    assert listed == {
        "id": made["id"],
        "name": "phone",
        "hint": made["key"][:8],
        "scopes": ["answer", "admin"],
        "person": "Admin",
        "owner": None,
        "callbackHosts": [],
        "createdAt": listed["createdAt"],
        "lastUsedAt": None,
        "revokedAt": None,
    }
    assert datetime.now(UTC) - created < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--name", "x", "--scope", "fly"), "There is no scope fly."),
        (("--name", "x", "--scope", ","), "Use one or more of ask, read, answer and admin."),
        (("--name", "x", "--scope", "answer"), "A key that answers belongs to somebody"),
        (("--name", " ", "--scope", "ask"), "Use 1 to 100 printable characters."),
        (("--name", "x" * 101, "--scope", "ask"), "Use 1 to 100 printable characters."),
        (("--scope", "ask"), "Missing option '--name'"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(server: RunningServer, words: tuple[str, ...], told: str) -> None:
    done = _keys(server, "create", *words)

    flat = " ".join(done.stderr.replace("│", " ").split())
    assert (done.returncode, done.stdout) == (2, "")
    assert told in flat
    assert "Traceback" not in done.stderr


async def test_a_revoked_key_is_soon_refused_by_the_running_server(server: RunningServer) -> None:
    made = json.loads(_keys(server, "create", "--name", "lost", "--scope", "ask,read", "--json").stdout)
    with server.client(made["key"]) as lost:
        before = lost.get("/api/jobs").status_code
        revoked = _keys(server, "revoke", made["id"])
        first = _listed(server)[made["id"]]["revokedAt"]

        async def is_refused() -> bool:
            return lost.get("/api/jobs").status_code == 401

        await eventually(is_refused)
        refused = lost.post("/api/questions", json=CHOICE)
    again = _keys(server, "revoke", made["id"])

    assert before == 200
    assert (revoked.returncode, revoked.stdout) == (0, f"Key {made['id']} is revoked.\n")
    assert problem(refused) == (401, "key_revoked")
    assert first is not None
    assert (again.returncode, _listed(server)[made["id"]]["revokedAt"]) == (0, first)


def test_a_key_that_does_not_exist_cannot_be_revoked(server: RunningServer) -> None:
    done = _keys(server, "revoke", "k_nonsense")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "There is no key k_nonsense. handraise-bot keys list shows them all.\n"


def test_a_revoked_first_key_is_not_replaced_by_a_restart(data_dir: Path) -> None:
    with running(data_dir) as server:
        agent_key = next(key["id"] for key in _listed(server).values() if key["name"] == "agent")
        _keys(server, "revoke", agent_key)

    with running(data_dir) as again, again.client() as agent:
        refused = agent.get("/api/jobs")
        names = sorted(key["name"] for key in _listed(again).values())

    assert problem(refused) == (401, "key_revoked")
    assert names == ["admin", "agent"]


def test_the_last_use_of_a_key_is_recorded(data_dir: Path) -> None:
    with running(data_dir) as server, server.client() as agent:
        agent.get("/api/jobs")

    by_name = {key["name"]: key["lastUsedAt"] for key in _listed(server).values()}
    assert by_name["admin"] is None
    assert datetime.now(UTC) - datetime.fromisoformat(by_name["agent"]) < timedelta(minutes=5)


# health


def test_a_healthy_server_says_so_to_anybody(data_dir: Path) -> None:
    with running(data_dir) as server, httpx2.Client(base_url=server.url) as anybody:
        health, ready = anybody.get("/healthz"), anybody.get("/readyz")

    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "troubles": []})


def test_metrics_count_what_happened(data_dir: Path) -> None:
    with running(data_dir) as server, server.client() as agent, server.admin() as admin:
        for _ in range(3):
            ask(agent)
        answer(admin, ask(agent)["id"], "main")
        metrics = httpx2.get(f"{server.url}/metrics")

    lines = metrics.text.splitlines()
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'handraise_events_total{name="question.asked"} 4.0' in lines
    assert 'handraise_events_total{name="question.answered"} 1.0' in lines
    assert 'handraise_loop_failures_total{loop="deadlines"} 0.0' in lines
    assert "handraise_waiting 0.0" in lines
