"""One stream of log lines on stderr, ours and the libraries', for people or for machines."""

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import Processor


def configure_logs(form: Literal["console", "json"]) -> None:
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        # Plain tracebacks: a rich one prints local variables, and among them are keys and people's answers.
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    last: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if form == "json":
        last.append(structlog.processors.format_exc_info)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[*last, renderer]))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("handraise").setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it repeats, with traceback, what we have logged
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
