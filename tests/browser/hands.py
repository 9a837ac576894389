"""Two ways to use a page: with a mouse, and with a keyboard alone."""

from playwright.sync_api import Locator, Page

_BOXES = "input[type=radio], input[type=checkbox]"
_FIELDS = "textarea, select, input:not([type=radio], [type=checkbox])"
_TO_THE_END = 80


class Mouse:
    """Points and clicks; only what has to be written is typed."""

    def __init__(self, page: Page, within: Locator) -> None:
        self.page, self.within = page, within

    def press(self, name: str) -> None:
        self._button(name).click()

    def tick(self, label: str) -> None:
        self._box(label).click()

    def write(self, label: str, text: str) -> None:
        self._field(label).click()
        self._field(label).fill(text)

    def choose(self, label: str, option: str) -> None:
        self._field(label).select_option(label=option)

    def unfold(self, summary: str) -> None:
        self.within.get_by_text(summary).click()

    def _button(self, name: str) -> Locator:
        return self.within.get_by_role("button", name=name, exact=True)

    def _field(self, label: str) -> Locator:
        return self.within.locator(_FIELDS).and_(self.within.get_by_label(label))

    def _box(self, label: str) -> Locator:
        """`label`, or `group: label` where several groups have it."""
        group, _, name = label.rpartition(": ")
        within = self.within.get_by_role("group", name=group) if group else self.within
        return within.locator(_BOXES).and_(within.get_by_label(name))


class Keyboard(Mouse):
    """Comes to everything with Tab and the arrows."""

    def press(self, name: str) -> None:
        self._reach(self._button(name))
        self.page.keyboard.press("Enter")

    def tick(self, label: str) -> None:
        box = self._box(label)
        if box.get_attribute("type") == "checkbox":
            self._reach(box)
            self.page.keyboard.press("Space")
            return
        # Tab stops once at a group of radio buttons; the arrows choose in it.
        self._reach(self.within.locator(f"input[name='{box.get_attribute('name')}']"))
        self.page.keyboard.press("Space")
        for _ in range(_TO_THE_END):
            if box.is_checked():
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"the arrows never come to {label}")

    def write(self, label: str, text: str) -> None:
        field = self._field(label)
        self._reach(field)
        if field.get_attribute("type") == "date":
            year, month, day = text.split("-")
            self.page.keyboard.type(month + day + year)
            return
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, label: str, option: str) -> None:
        self._reach(self._field(label))
        self.page.keyboard.type(option)

    def unfold(self, summary: str) -> None:
        self._reach(self.within.get_by_text(summary))
        self.page.keyboard.press("Enter")

    def _reach(self, wanted: Locator) -> None:
        for _ in range(_TO_THE_END):
            if wanted.evaluate_all("all => all.includes(document.activeElement)"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {wanted}")


Hand = type[Mouse]
HANDS: list[Hand] = [Mouse, Keyboard]
