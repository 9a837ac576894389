"""What a delivery means for the route of a question: shown, or on to the next place, or nowhere left to go."""

from datetime import datetime

from core.events import Delivered, DeliveryFailed, Undeliverable
from core.places import Target
from core.question import DeliveryRecord, DeliveryState, Question

#: The inbox shows the record itself, so what goes there has arrived.
INBOX = Target("web", "inbox")


def judge_delivery(
    question: Question, delivery: DeliveryRecord, now: datetime
) -> Delivered | DeliveryFailed | Undeliverable:
    if delivery.state is DeliveryState.POSTED:
        return Delivered(now, delivery)
    known, route = (*question.deliveries, delivery), question.spec.route
    step = route[question.route_step] if route else question.targets
    tried = Target(delivery.surface, delivery.address or "")
    if not question.is_open or tried not in step or not all(has_failed(target, known) for target in step):
        return DeliveryFailed(now, delivery)
    # A later step may name places that have been tried before; nobody would try them again.
    later = range(question.route_step + 1, len(route))
    untried = (place for place in later if not all(has_failed(target, known) for target in route[place]))
    next_step = next(untried, None)
    return Undeliverable(now, delivery) if next_step is None else DeliveryFailed(now, delivery, next_step)


def has_failed(target: Target, deliveries: tuple[DeliveryRecord, ...]) -> bool:
    if target == INBOX:
        return False
    return _last(target, deliveries) is DeliveryState.FAILED


def delivery_state(question: Question) -> str:
    """`posted` once a place that was meant to shows it, `undeliverable` when none will, else `pending`."""
    places = [target for target in question.targets if target not in question.spec.targets] or [INBOX]
    if any(target == INBOX or _last(target, question.deliveries) is DeliveryState.POSTED for target in places):
        return "posted"
    return "undeliverable" if all(has_failed(target, question.deliveries) for target in places) else "pending"


def _last(target: Target, deliveries: tuple[DeliveryRecord, ...]) -> DeliveryState | None:
    """What is known last of a place: a mail that was taken may bounce later."""
    mine = [d.state for d in deliveries if d.surface == target.surface and d.address == target.address]
    return mine[-1] if mine else None
