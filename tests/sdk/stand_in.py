"""A small honest server: it keeps questions, checks keys, speaks the real JSON over real sockets, and fails on demand.

People act on a question the moment the client polls it (`when_polled`), so no test has to wait for anything.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .questions import ASKED_AT, PersonActs, problem
from .streams import EventStream

Json = dict[str, Any]
Reply = tuple[int, object]

AGENT_KEY, PERSON_KEY = "hr_agent", "hr_person"
DROP = (0, None)


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class StandIn(PersonActs):
    port: int = 0
    longest_hold: float = 0.05
    page_size: int = 100
    questions: dict[str, Json] = field(default_factory=dict)
    jobs: dict[str, Json] = field(default_factory=dict)
    requests: list[Seen] = field(default_factory=list)
    is_ready: bool = True
    webhooks: dict[str, Json] = field(default_factory=dict)
    events: EventStream = field(default_factory=EventStream)
    version: str = "0.1.0"
    # Added to the Date header, for clients that look at their clock.
    clock_offset: float = 0.0

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._faults: list[tuple[str, Reply, dict[str, str]]] = []
        self._lost_replies: list[str] = []
        self._acts: list[Callable[[Json], None]] = []
        self._by_idempotency_key: dict[str, tuple[Any, Json]] = {}
        self.polled = threading.Event()

    def __enter__(self) -> "StandIn":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._is_stopping = False
        self.events.open()
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self.events.close()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def fail_next(self, path_part: str, *replies: Reply, headers: dict[str, str] | None = None) -> None:
        """The next requests whose path holds `path_part` get these replies; DROP closes the connection instead."""
        self._faults += [(path_part, reply, headers or {}) for reply in replies]

    def lose_next_reply(self, path_part: str) -> None:
        """The next POST whose path holds `path_part` takes effect, but its reply never arrives."""
        self._lost_replies.append(path_part)

    def when_polled(self, *acts: Callable[[Json], None]) -> None:
        """One act for each of the next long polls."""
        self._acts += acts

    def settle(self, question: Json, value: Any) -> None:
        """A person answers while somebody waits for it."""
        with self._changed:
            self.answer(question, value)
            self._changed.notify_all()

    def bodies(self, method: str, path: str) -> list[Any]:
        return [seen.body for seen in self.requests if (seen.method, seen.path) == (method, path)]

    def add(self, **members: Any) -> Json:
        question: Json = {
            "id": f"q_{len(self.questions) + 1}",
            "jobId": "build-17",
            "type": "blocking",
            "responseType": "text",
            "question": "Which database?",
            "status": "pending",
            "createdAt": ASKED_AT,
            "timeoutAt": None,
            "comments": [],
        } | members
        question["url"] = f"{self.url}/q/{question['id']}"
        self.questions[question["id"]] = question
        return question

    def reply_to(self, seen: Seen) -> tuple[int, object, dict[str, str]]:
        with self._changed:
            self.requests.append(seen)
            for fault in self._faults:
                if fault[0] in seen.path:
                    self._faults.remove(fault)
                    return fault[1][0], fault[1][1], fault[2]
        if seen.path == "/readyz":
            return (200, {"status": "ready"}, {}) if self.is_ready else (503, problem(503, "slack is away"), {})
        if seen.path == "/openapi.json":
            return 200, {"openapi": "3.1.0", "info": {"title": "handraise", "version": self.version}}, {}
        key = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in (AGENT_KEY, PERSON_KEY):
            return 401, problem(401, "This key is not known.", "unauthorized"), {}
        status, body = self._route(seen, is_person=key == PERSON_KEY)
        for path_part in self._lost_replies:
            if seen.method == "POST" and path_part in seen.path:
                self._lost_replies.remove(path_part)
                return *DROP, {}
        return status, body, {}

    def _route(self, seen: Seen, *, is_person: bool) -> Reply:
        match (seen.method, [unquote(part) for part in seen.path.removeprefix("/api/").split("/")]):
            case ("POST", ["questions"]):
                return self._create(seen, "job-of-its-own")
            case ("POST", ["jobs", job, "questions"]):
                return self._create(seen, job)
            case ("GET", ["jobs", job, "questions"]):
                wanted = seen.query.get("status")
                found = [q for q in self.questions.values() if q["jobId"] == job and wanted in (None, q["status"])]
                return self._page("questions", found, seen.query)
            case ("GET", ["questions", "pending"]):
                return self._page(
                    "questions", [q for q in self.questions.values() if q["status"] == "pending"], seen.query
                )
            case ("GET", ["jobs"]):
                return self._page("jobs", list(self.jobs.values()), seen.query)
            case ("GET", ["jobs", job]) if job in self.jobs:
                return 200, self.jobs[job]
            case ("GET", ["questions", question_id]) if self._sees(question_id, is_person):
                return self._poll(self.questions[question_id], seen.query)
            case ("POST", ["questions", question_id, verb]) if self._sees(question_id, is_person):
                return self._act(self.questions[question_id], verb, seen, is_person)
            case (method, parts):
                return self._route_back(method, parts, seen, is_person=is_person)

    def _route_back(self, method: str, parts: list[str], seen: Seen, *, is_person: bool) -> Reply:
        """What brings answers back to the agent: streams, webhooks, and the agent's own progress."""
        match (method, parts):
            case ("GET", ["events"]):
                return 200, self.events.read(seen.headers.get("last-event-id"), job=None)
            case ("GET", ["jobs", job, "events"]):
                return 200, self.events.read(seen.headers.get("last-event-id"), job=job)
            case ("POST", ["jobs", job, "progress"]):
                self.jobs[job] = {"id": job, "status": "running", "progress": {"text": seen.body["text"]}}
                self.events.emit("job.progress", self.jobs[job])
                return 202, self.jobs[job]
            case (_, ["webhooks", *_]) if is_person:
                return 403, problem(403, "This key lacks the scope ask. Use a key that has it.", "scope_missing")
            case (method, ["webhooks", *rest]):
                return self._webhook(method, rest, seen)
        return 404, problem(404, "There is nothing of that name.", "not_found")

    def _sees(self, question_id: str, is_person: bool) -> bool:
        question = self.questions.get(question_id)
        return question is not None and (is_person or not question.get("isOfAnotherAgent"))

    def _create(self, seen: Seen, job: str) -> Reply:
        known = self._by_idempotency_key.get(seen.headers["idempotency-key"])
        if known is not None and known[0] != seen.body:
            return 422, problem(422, "This idempotency key was used for another request.", "idempotency_key_reused")
        if known is not None:
            return 200, known[1]
        if seen.body.get("timeoutMinutes") == 0:
            errors = [{"pointer": "/timeoutMinutes", "detail": "must be at least 5 minutes"}]
            return 422, problem(422, "The time limit is out of range.", "time_limit_out_of_range", errors=errors)
        question = self.add(jobId=job, **seen.body)
        reply: Json = {"questionId": question["id"], "timeoutAt": None, "question": question}
        self._by_idempotency_key[seen.headers["idempotency-key"]] = (seen.body, reply)
        return 201, reply

    def _poll(self, question: Json, query: dict[str, str]) -> Reply:
        if "wait" not in query:
            return 200, question
        with self._changed:
            if self._acts:
                self._acts.pop(0)(question)
            self.polled.set()
            hold = min(float(query["wait"]), self.longest_hold)
            self._changed.wait_for(lambda: question["status"] != "pending" or self._is_stopping, hold)
            return DROP if self._is_stopping else (200, question)

    def _act(self, question: Json, verb: str, seen: Seen, is_person: bool) -> Reply:
        key = seen.headers.get("idempotency-key")
        if key in self._by_idempotency_key:
            return 200, self._by_idempotency_key[key][1]
        status, reply = self._acted(question, verb, seen.body, is_person)
        if key is not None and status < 300:
            self._by_idempotency_key[key] = (seen.body, reply)
        return status, reply

    def _acted(self, question: Json, verb: str, body: Json, is_person: bool) -> tuple[int, Json]:
        if verb == "answer" and not is_person:
            return 403, problem(403, "This key lacks the scope answer. Use a key that has it.", "scope_missing")
        if verb == "cancel" and question["status"] == "cancelled":
            return 200, {"success": True, "question": question}
        if verb == "answer" and body.get("late") and question["status"] == "timeout":
            return 202, {"success": True, "jobResumed": False, "question": question}
        if question["status"] != "pending":
            extra = {"question": question, "outcome": question["outcome"]}
            return 409, problem(409, "The question is settled.", "question_settled", **extra)
        if verb == "comments":
            by = {"type": "person", "name": "Dana"} if is_person else {"type": "asker", "name": "builder"}
            question["comments"].append({"by": by, "text": body["text"], "at": ASKED_AT, "askBack": is_person})
            return 200, {"question": question}
        if verb == "cancel":
            self.withdraw(question, reason=body.get("reason"))
            return 200, {"success": True, "question": question}
        self.answer(question, body["response"]["value"], text=body["response"].get("text"))
        return 200, {"success": True, "jobResumed": True, "question": question}

    def _webhook(self, method: str, rest: list[str], seen: Seen) -> Reply:
        match (method, rest):
            case ("POST", []):
                webhook = {"id": f"wh_{len(self.webhooks) + 1}", **seen.body}
                self.webhooks[webhook["id"]] = webhook
                return 201, webhook | {"secret": "whsec_Zmlyc3Q="}
            case ("GET", []):
                return self._page("webhooks", list(self.webhooks.values()), seen.query)
            case ("DELETE", [webhook_id]) if webhook_id in self.webhooks:
                del self.webhooks[webhook_id]
                return 204, ""
            case ("POST", [webhook_id, "test"]) if webhook_id in self.webhooks:
                return 202, {"messageId": "msg_1"}
            case ("POST", [webhook_id, "rotate"]) if webhook_id in self.webhooks:
                return 200, self.webhooks[webhook_id] | {"secret": "whsec_c2Vjb25k"}
        return 404, problem(404, "There is nothing of that name.", "not_found")

    def _page(self, name: str, rows: list[Json], query: dict[str, str]) -> Reply:
        start = int(query.get("cursor", "0"))
        end = start + min(self.page_size, int(query.get("limit", "50")))
        return 200, {name: rows[start:end], "nextCursor": str(end) if end < len(rows) else None}


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # One write for each reply: two small ones would wait for the client's delayed acknowledgement.
        wbufsize = -1
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, reply, extra = stand_in.reply_to(Seen(self.command, parts.path, query, headers, body))
            if status == 0:
                self.close_connection = True
                return
            if isinstance(reply, Iterator):
                self._stream(reply)
                return
            content = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/problem+json" if status >= 400 else "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in extra.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, chunks: Iterator[bytes]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            self.wfile.flush()
            for chunk in chunks:
                self.wfile.write(chunk)
                self.wfile.flush()

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(timestamp or time.time() + stand_in.clock_offset)

        def handle(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):
                super().handle()

        def finish(self) -> None:
            # What is left in the buffer cannot be sent to a client that is gone.
            with suppress(BrokenPipeError, ConnectionResetError):
                super().finish()

        def log_message(self, format: str, *args: object) -> None:
            return

    return Handler
