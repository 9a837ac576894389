"""What the server counts about itself, in Prometheus' format."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from core.events import EVENT_NAMES, Event

_LAGS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._events = Counter("handraise_events", "What happened, by name.", ["name"], registry=self._registry)
        self._by_type = {kind: self._events.labels(name) for kind, name in EVENT_NAMES.items()}
        self.lag = Histogram(
            "handraise_deadline_lag_seconds",
            "How late a sweep began after the earliest instant that was due.",
            buckets=_LAGS,
            registry=self._registry,
        )
        self.failures = Counter(
            "handraise_loop_failures", "Passes of a background loop that failed.", ["loop"], registry=self._registry
        )
        self.waiting = Gauge(
            "handraise_waiting", "Questions somebody waits for on this server.", registry=self._registry
        )

        self.overdue = Gauge(
            "handraise_overdue", "Open questions whose next step is overdue or not planned.", registry=self._registry
        )

    def count(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self._by_type[type(event)].inc()

    def exposition(self) -> bytes:
        return generate_latest(self._registry)
