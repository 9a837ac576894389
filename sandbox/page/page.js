// Shows what the workspace looks like to one person, and does what they do. All state is the server's.
const screen = document.getElementById("screen");
const here = new URLSearchParams(location.search);
const drafts = new Map();

async function draw() {
  const response = await fetch(`/screen?${here}`);
  const focused = document.activeElement?.id;
  for (const field of screen.querySelectorAll("textarea[id]")) drafts.set(field.id, field.value);
  const open = screen.querySelector(".modal");
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
  // A form that somebody is filling in stays while it is the same form.
  const modal = fresh.querySelector(".modal");
  if (open && modal && open.dataset.hash === modal.dataset.hash) modal.replaceWith(open);
  screen.replaceChildren(fresh);
  for (const [id, text] of drafts) if (document.getElementById(id)) document.getElementById(id).value = text;
  document.getElementById(focused)?.focus();
  for (const list of screen.querySelectorAll(".messages")) list.scrollTop = list.scrollHeight;
}

async function act(what, body) {
  const response = await fetch(`/act/${what}?${here}`, { method: "POST", body: JSON.stringify(body) });
  const seen = await response.json();
  if (!seen.acknowledged) warn("The app did not answer in time.");
  if (seen.problem) warn(seen.problem);
  await draw();
  return seen;
}

function warn(text) {
  const line = Object.assign(document.createElement("div"), { className: "warning", textContent: `⚠ ${text}` });
  document.body.append(line);
  setTimeout(() => line.remove(), 5000);
}

function go(changes) {
  for (const [name, value] of Object.entries(changes)) value === null ? here.delete(name) : here.set(name, value);
  history.replaceState(null, "", `?${here}`);
  here.get("tab") === "home" ? act("home", {}) : draw();
}

screen.addEventListener("click", async (event) => {
  const press = event.target.closest("[data-press]");
  const link = event.target.closest("[data-go]");
  if (link) return go(JSON.parse(link.dataset.go));
  if (event.target.closest("[data-close]")) return act("close", {});
  if (!press) return;
  if (press.dataset.confirm && !confirm(press.dataset.confirm)) return;
  if (press.dataset.url) window.open(press.dataset.url, "_blank", "noreferrer");
  press.disabled = true;
  await act("press", { where: press.dataset.where, label: press.dataset.press });
});

screen.addEventListener("change", (event) => {
  const menu = event.target.closest("[data-select]");
  if (menu?.value) act("select", { where: menu.dataset.where, label: menu.dataset.select, values: [menu.value] });
});

screen.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const values = {};
  for (const holder of form.querySelectorAll(".input")) {
    const ticks = [...holder.querySelectorAll("input[type=checkbox]")];
    const radio = holder.querySelector("input[type=radio]:checked");
    const field = holder.querySelector("textarea,select,input:not([type=checkbox],[type=radio])");
    if (ticks.length) values[holder.dataset.label] = ticks.filter((tick) => tick.checked).map((tick) => tick.value);
    else if (radio) values[holder.dataset.label] = radio.value;
    else if (field?.value) values[holder.dataset.label] = field.value;
  }
  const seen = await act("submit", values);
  for (const holder of form.querySelectorAll(".input")) {
    holder.querySelector(".error").textContent = seen.errors?.[holder.dataset.label] ?? "";
  }
});

screen.addEventListener("keydown", async (event) => {
  if (event.key !== "Enter" || event.shiftKey || !event.target.matches("[data-say]")) return;
  event.preventDefault();
  const text = event.target.value.trim();
  if (!text) return;
  drafts.set(event.target.id, "");
  event.target.value = "";
  await act("say", { text, thread: event.target.dataset.say || null });
});

new EventSource("/changes").onmessage = draw;
draw();
