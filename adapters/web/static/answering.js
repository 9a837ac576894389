// Sends forms without leaving the page: feedback at once, one word on who won, and nothing lost without a connection.
import { toast } from "./notices.js";
import { refreshCard, refreshSoon } from "./refresh.js";

const KEPT = "handraise.kept";

const headers = { "X-Handraise": "1", Accept: "application/json" };
const newOperation = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");

function say(form, text, tone = "", ...more) {
  const place = form.querySelector(".said") ?? form.closest("section,dialog,.card")?.querySelector(".said");
  if (!place) return toast(text);
  place.className = `said ${tone}`;
  place.replaceChildren(document.createTextNode(text), ...more);
  place.hidden = !text;
}

function lock(form, pressed, on) {
  form.classList.toggle("sending", on);
  for (const button of form.querySelectorAll("button:not(.no-default)")) button.disabled = on;
  if (pressed) {
    pressed.dataset.label ??= pressed.textContent;
    pressed.textContent = on ? "Sending…" : pressed.dataset.label;
    if (!on) delete pressed.dataset.label;
  }
}

async function post(action, fields) {
  const heard = await postOnce(action, fields);
  // Signed in again meanwhile, in another tab: the same person goes on with what they typed here.
  if (heard.state !== "stale" || heard.me !== document.body.dataset.me) return heard;
  document.body.dataset.token = heard.token;
  for (const field of document.querySelectorAll("input[name=token]")) field.value = heard.token;
  return postOnce(action, [...fields.filter(([name]) => name !== "token"), ["token", heard.token]]);
}

async function postOnce(action, fields) {
  const response = await fetch(action, { method: "POST", body: new URLSearchParams(fields), headers });
  const body = await response.json().catch(() => ({ state: "refused", sentence: `The server answered ${response.status}.` }));
  return { ok: response.ok, status: response.status, ...body };
}

async function send(form, pressed) {
  let fields = [...new FormData(form)];
  if (pressed?.name) fields.push([pressed.name, pressed.value]);
  // What was written as something else and then unticked is not meant.
  if (form.querySelector("[data-free]:not(:checked)")) fields = fields.filter(([name]) => name !== "free");
  say(form, "");
  lock(form, pressed, true);
  let heard;
  try {
    heard = await post(form.action, fields);
  } catch {
    lock(form, pressed, false);
    if (form.dataset.answer) return keep(form, fields);
    return say(form, "The server cannot be reached. Try again.", "wait");
  }
  lock(form, pressed, false);
  settle(form, heard, fields, pressed?.dataset.do);
}

function settle(form, heard, fields, sentence = form.dataset.do ?? heard.sentence) {
  const id = form.dataset.answer;
  const { operation } = form.elements;
  if (heard.ok) {
    form.reset();
    // Whatever this form says next is something new, unless there is nothing more to say.
    if (operation && heard.open !== false) operation.value = newOperation();
    say(form, sentence, "fine");
    toast(sentence);
    form.closest("dialog.urgent")?.close();
    done(id);
    return;
  }
  // Whether it was kept before the database went away is not known, so it is sent again under the same name.
  if (heard.state === "unavailable") return say(form, heard.sentence, "wait");
  // What was refused may be sent again as something else, so it needs a new name.
  if (operation) operation.value = newOperation();
  if (heard.state === "late") return say(form, heard.sentence, "wait", lateButton(form, fields));
  if (heard.state === "signed_out") return say(form, heard.sentence, "wait", signInLink());
  say(form, heard.sentence);
  if (heard.state === "lost") {
    toast(heard.sentence);
    done(id);
  }
}

function done(id) {
  if (!id) return refreshSoon(document.querySelector("[data-question]")?.dataset.question);
  if (document.getElementById(`card-${id}`)) refreshCard(id);
  else refreshSoon(id);
}

function lateButton(form, fields) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Send as a late answer";
  button.addEventListener("click", async () => {
    lock(form, button, true);
    const late = [...fields.filter(([name]) => !["late", "operation"].includes(name)), ["late", "1"], ["operation", newOperation()]];
    try {
      settle(form, await post(form.action, late), late);
    } catch {
      say(form, "The server cannot be reached. Try again.", "wait", button);
    }
    lock(form, button, false);
  });
  return button;
}

function signInLink() {
  const link = document.createElement("a");
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.target = "_blank"; // what was typed stays here
  link.textContent = " Sign in";
  return link;
}

// --- offline: an answer is kept in the browser and sent when the connection is back, or told that it came too late

const kept = () => JSON.parse(localStorage.getItem(KEPT) ?? "[]").filter((each) => each.me === document.body.dataset.me);

function store(list) {
  const others = JSON.parse(localStorage.getItem(KEPT) ?? "[]").filter((each) => each.me !== document.body.dataset.me);
  localStorage.setItem(KEPT, JSON.stringify([...others, ...list]));
}

function keep(form, fields) {
  const own = fields.filter(([name]) => name !== "token");
  const entry = { id: form.dataset.answer, action: new URL(form.action).pathname, fields: own, me: document.body.dataset.me };
  store([...kept().filter((each) => each.id !== entry.id), entry]);
  const why = navigator.onLine ? "The server cannot be reached." : "You are offline.";
  say(form, `${why} Your answer is kept here and sent when the connection is back.`, "wait");
}

let sending = false;
async function sendKept() {
  if (sending) return;
  sending = true;
  try {
    for (const entry of kept()) {
      const heard = await post(entry.action, [...entry.fields, ["token", document.body.dataset.token]]);
      // Whoever signs in next with a fresh page sends it; nothing is dropped because a session or a server went away.
      if (["signed_out", "stale", "unavailable"].includes(heard.state) || heard.status >= 500) return;
      store(kept().filter((each) => each.id !== entry.id));
      told(entry, heard);
    }
  } catch {
    // still offline
  } finally {
    sending = false;
  }
}

function told(entry, heard) {
  const form = document.querySelector(`form[data-answer="${CSS.escape(entry.id)}"]`);
  if (heard.ok) toast(`The answer you gave offline was sent. ${heard.sentence}`);
  else toast(`The answer you gave offline came too late or was not taken. ${heard.sentence}`, `/q/${entry.id}`, true);
  if (form) settle(form, heard, entry.fields.concat([["token", document.body.dataset.token]]));
  else done(entry.id);
}

function checkJson(area) {
  const place = document.getElementById("arguments-problem");
  let problem = "";
  try {
    JSON.parse(area.value);
  } catch (failure) {
    problem = `This is not JSON yet: ${failure.message}`;
  }
  if (place) {
    place.textContent = problem;
    place.hidden = !problem;
  }
}

export function startAnswering() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-answer], form[data-do]")) return;
    event.preventDefault();
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) return;
    send(form, event.submitter);
  });
  // Enter in a field presses the button that belongs to it, never one that decides something else.
  document.addEventListener("keydown", (event) => {
    const button = event.key === "Enter" && !event.isComposing && event.target.dataset?.enter && document.getElementById(event.target.dataset.enter);
    if (!button) return;
    event.preventDefault();
    button.form.requestSubmit(button);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-json]")) checkJson(event.target);
    if (event.target.id === "free") event.target.closest(".option").querySelector("[data-free]").checked = event.target.value !== "";
  });
  for (const entry of kept()) {
    const form = document.querySelector(`form[data-answer="${CSS.escape(entry.id)}"]`);
    if (form) say(form, "An answer you gave offline waits here to be sent.", "wait");
  }
  window.addEventListener("online", sendKept);
  window.addEventListener("handraise:connected", sendKept);
  sendKept();
}
