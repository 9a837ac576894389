"""What people write by hand: FastAPI, SQLAlchemy's ORM, SQLite with full durability, a job per deadline.

It does the same work as a cycle of ours over the same calls, without idempotency, history, jobs, scopes or claims, and
its waiting clients are woken in process. Run as `python -m bench.peer PORT FOLDER`.
"""

import asyncio
import sys
import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import create_engine, event, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Question(Base):
    __tablename__ = "questions"
    id: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    status: Mapped[str] = mapped_column(default="pending")
    answer: Mapped[str | None]


class AskBody(BaseModel):
    question: str


class Response(BaseModel):
    value: str


class AnswerBody(BaseModel):
    response: Response


def build(folder: Path) -> FastAPI:  # one small application in one place
    engine = create_engine(f"sqlite:///{folder / 'peer.db'}", connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def tune(connection, _):  # type: ignore[no-untyped-def]
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    Base.metadata.create_all(engine)
    scheduler = AsyncIOScheduler(timezone=UTC)
    settled: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
    app = FastAPI()
    loops: list[asyncio.AbstractEventLoop] = []

    def expire(name: str) -> None:
        with Session(engine) as session:
            open_one = Question.id == name, Question.status == "pending"
            session.execute(update(Question).where(*open_one).values(status="timeout"))
            session.commit()

    @app.post("/api/questions", status_code=201)
    def ask(body: AskBody) -> dict[str, str]:
        question = Question(id=uuid.uuid4().hex, text=body.question)
        name = question.id
        with Session(engine) as session:
            session.add(question)
            session.commit()
        at = datetime.now(UTC) + timedelta(minutes=30)
        scheduler.add_job(expire, "date", run_date=at, args=[name], id=name)
        return {"questionId": name}

    @app.post("/api/questions/{name}/answer")
    def answer(name: str, body: AnswerBody) -> dict[str, bool]:
        with Session(engine) as session:
            open_one = Question.id == name, Question.status == "pending"
            values = {"status": "answered", "answer": body.response.value}
            if session.execute(update(Question).where(*open_one).values(**values)).rowcount != 1:  # type: ignore[attr-defined]
                raise HTTPException(409)
            session.commit()
        scheduler.remove_job(name)
        loops[0].call_soon_threadsafe(settled[name].set)
        return {"success": True}

    def look(name: str) -> dict[str, str | None]:
        with Session(engine) as session:
            found = session.get(Question, name)
            if found is None:
                raise HTTPException(404)
            return {"id": found.id, "status": found.status, "answer": found.answer}

    @app.get("/api/questions/{name}")
    async def wait(name: str, wait: float = 0) -> dict[str, str | None]:
        if not loops:
            loops.append(asyncio.get_running_loop())
            scheduler.start()
        question = await asyncio.to_thread(look, name)
        if question["status"] == "pending" and wait:
            async with asyncio.timeout(wait):
                await settled[name].wait()
            question = await asyncio.to_thread(look, name)
        return question

    return app


def main() -> None:
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    uvicorn.run(build(folder), port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
