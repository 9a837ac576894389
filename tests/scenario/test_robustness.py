"""What clients, strangers and operators do to a server without meaning harm, or meaning it."""

import socket
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.scenario.talk import ask, job_of, ok, problem
from tests.support.servers import BIN, RunningServer, clean_environment, running


def test_a_client_that_hangs_up_in_mid_sentence_leaves_no_trace_of_its_key(server: RunningServer) -> None:
    head = f"POST /api/questions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.agent_key}\r\n"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall((head + 'Content-Length: 500\r\n\r\n{"question": "Wh').encode())
    with server.client() as agent:
        assert ok(agent.get("/healthz")) == {"status": "ok"}

    assert server.agent_key not in server.log.read_text()
    assert "unexpected" not in server.log.read_text()


def test_a_job_may_be_called_like_a_branch(agent: httpx2.Client) -> None:
    question = ask(agent, job="feature%2Flogin")

    assert question["jobId"] == "feature/login"
    assert job_of(agent, "feature%2Flogin")["status"] == "waiting_for_input"
    listed = ok(agent.get("/api/jobs/feature%2Flogin/questions"))["questions"]
    assert [entry["id"] for entry in listed] == [question["id"]]
    steered = ok(agent.patch("/api/jobs/feature%2Flogin", json={"status": "completed"}))
    assert steered["status"] == "completed"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/jobs/x", "GET, PATCH"),
        ("DELETE", "/api/jobs/x/questions", "GET, POST"),
        ("PUT", "/api/questions", "POST"),
    ],
)
def test_a_method_that_does_not_work_names_all_that_do(
    agent: httpx2.Client, method: str, path: str, allowed: str
) -> None:
    refused = agent.request(method, path)

    assert problem(refused) == (405, "method_not_allowed")
    assert refused.headers["allow"] == allowed


def test_a_stranger_cannot_use_up_the_limit_of_a_job(tmp_path: Path) -> None:
    with running(tmp_path, rate_limit="3/hour") as server:
        stranger_key = server.new_key("stranger", "ask,read")
        with server.client() as owner, server.client(stranger_key) as stranger:
            ask(owner, job="mine")
            foreign = [stranger.post("/api/jobs/mine/questions", json={"question": "?"}) for _ in range(3)]

            again = owner.post("/api/jobs/mine/questions", json={"question": "Still my turn?"})

    assert [problem(response) for response in foreign] == [(404, "job_not_found")] * 3
    assert again.status_code == 201


def test_an_admin_may_ask_in_the_job_of_an_agent(agent: httpx2.Client, admin: httpx2.Client) -> None:
    ask(agent, job="shared", type="clarifying")

    question = ask(admin, job="shared", type="clarifying")

    assert question["jobId"] == "shared"
    assert job_of(agent, "shared")["status"] == "running"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["migrate", "--data-dir", "FILE"], "cannot be used"),
        (["keys", "list", "--data-dir", "FILE"], "cannot be used"),
        (["serve", "--port", "0", "--data-dir", "FILE", "--database-url", "sqlite:///ok.db"], "data folder"),
        (["serve", "--host", "203.0.113.7", "--port", "0"], "Cannot listen"),
        (["keys", "revoke", "k_none"], "There is no key k_none"),
    ],
)
def test_what_an_operator_can_put_right_is_said_in_a_sentence(tmp_path: Path, words: list[str], told: str) -> None:
    file = tmp_path / "a file"
    file.write_text("not a folder")

    done = subprocess.run(
        [str(BIN / "handraise-bot"), *(word.replace("FILE", str(file)) for word in words)],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_driver_in_the_database_url_makes_no_difference(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN / "handraise-bot"), "migrate", "--database-url", "sqlite+aiosqlite:///x.db"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
