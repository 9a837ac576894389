// Keys for whoever triages without a mouse. A key never decides: it goes to the button, and Enter presses it.
const cards = () => [...document.querySelectorAll(".questions > .question")];
const current = () => document.querySelector(".question.current");

function choose(card) {
  if (!card) return;
  current()?.classList.remove("current");
  card.classList.add("current");
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = cards();
  const place = all.indexOf(current());
  choose(all[place < 0 ? 0 : Math.min(all.length - 1, Math.max(0, place + step))]);
}

const ground = () => current() ?? document.getElementById("answer");

function reject() {
  const form = ground()?.querySelector("form[data-answer]");
  const button = form?.querySelector("[data-reject]");
  if (!button) return;
  const reason = form.querySelector("[name=text]");
  if (!reason) return button.focus();
  reason.dataset.before = reason.placeholder;
  reason.placeholder = "Why? Enter rejects";
  reason.focus();
  reason.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit(button);
  }, { once: false, signal: until(reason) });
}

// The meaning of Enter in the reason field ends when the field is left.
function until(field) {
  const stop = new AbortController();
  field.addEventListener("blur", () => {
    field.placeholder = field.dataset.before ?? "";
    stop.abort();
  }, { once: true });
  return stop.signal;
}

function help() {
  const list = document.getElementById("keys");
  if (!list.open) list.showModal();
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  Enter: () => current()?.querySelector("[data-open]")?.click(),
  a: () => ground()?.querySelector("[data-first]")?.focus(),
  r: reject,
  x: () => current()?.querySelector("[data-pick]")?.click(),
  u: () => document.getElementById("back")?.click(),
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": help,
};

export function startKeys() {
  const show = document.getElementById("show-keys");
  show.hidden = false;
  show.addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target.matches("input,textarea,select,[contenteditable]")) {
      if (event.key === "Escape") (target.blur(), current()?.focus());
      if (!target.matches("[data-pick]")) return;
    }
    if (event.key === "Enter" && target !== current()) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.addEventListener("focusin", (event) => {
    const card = event.target.closest(".questions > .question");
    if (card && card !== current()) {
      current()?.classList.remove("current");
      card.classList.add("current");
    }
  });
}
