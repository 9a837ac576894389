// What calls for attention: toasts, the count in the title, browser notifications, and a dialog for what is urgent.
import { refreshSoon } from "./refresh.js";
import { localise } from "./time.js";

const WANTED = "handraise.notify";
const called = new Set();
const closed = new Set();
const calls = new Map();

export function toast(text, path, stays = false) {
  const box = document.createElement("div");
  box.className = "toast";
  const said = document.createElement("p");
  if (path) {
    const link = document.createElement("a");
    link.href = path;
    link.textContent = text;
    said.append(link);
  } else said.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet";
  close.textContent = "×";
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => box.remove());
  box.append(said, close);
  document.getElementById("toasts").append(box);
  if (!stays) setTimeout(() => box.remove(), 8000);
  return box;
}

const wants = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem(WANTED) === "yes";

async function notify(title, body, path, tag) {
  if (!wants() || document.hasFocus()) return;
  const options = { body, tag, data: { path }, icon: document.querySelector("link[rel=icon]").href };
  const worker = await navigator.serviceWorker?.getRegistration("/");
  // Of several tabs each would show it; the tag makes it one.
  if (worker) return worker.showNotification(title, options);
  const shown = new Notification(title, options);
  shown.addEventListener("click", () => (window.focus(), (location.href = path)));
}

function offer() {
  const button = document.getElementById("notify");
  if (!button || !("Notification" in window)) return;
  const show = () => {
    button.hidden = Notification.permission === "denied";
    button.textContent = wants() ? "Notifications on" : "Notify me";
    button.setAttribute("aria-pressed", String(wants()));
  };
  button.addEventListener("click", async () => {
    if (wants()) localStorage.setItem(WANTED, "no");
    else if ((await Notification.requestPermission()) === "granted") {
      localStorage.setItem(WANTED, "yes");
      await navigator.serviceWorker?.register("/worker.js").catch(() => {});
      toast("You will be notified of questions put to you while this page is in the background.");
    }
    show();
  });
  show();
}

function showCount(mine) {
  const badge = document.getElementById("mine-count");
  badge.textContent = mine || "";
  badge.hidden = !mine;
  document.title = (mine ? `(${mine}) ` : "") + document.title.replace(/^\(\d+\) /, "");
}

// Something may have happened after this page was made and before it began to listen.
let isCaughtUp = false;
function caughtUp(position) {
  if (!isCaughtUp && position > Number(document.body.dataset.position)) refreshSoon();
  isCaughtUp = true;
}

let counting = null;
function countSoon() {
  clearTimeout(counting);
  counting = setTimeout(async () => {
    try {
      const response = await fetch("/count", { headers: { "X-Handraise": "1" } });
      if (!response.ok) return;
      const { mine, position } = await response.json();
      showCount(mine);
      caughtUp(position);
    } catch {
      // the next news counts again
    }
  }, 250);
}

const isBusy = () => {
  const field = document.activeElement;
  const writes = field?.matches("input:not([type=checkbox],[type=radio]),textarea,select") && field.value !== "";
  return writes || document.querySelector("dialog[open]");
};

// A dialog that opens under somebody's fingers could be answered by accident, so it waits while they write.
const mayInterrupt = (news) =>
  document.visibilityState === "visible" && !isBusy() && !document.querySelector(`[data-question="${news.id}"]`);

async function dialogOf(news) {
  try {
    const response = await fetch(`/q/${news.id}/dialog`, { headers: { "X-Handraise": "1" } });
    return new DOMParser().parseFromString(await response.text(), "text/html").querySelector("dialog.urgent");
  } catch {
    return null;
  }
}

async function open(news) {
  const dialog = mayInterrupt(news) ? await dialogOf(news) : null;
  // Meanwhile somebody may have answered, or begun to write.
  if (closed.has(news.id)) return;
  if (!dialog || !mayInterrupt(news)) {
    calls.set(news.id, toast(`${news.agent} asks you now: ${news.text}`, `/q/${news.id}`, true));
    return;
  }
  const shown = document.importNode(dialog, true);
  document.body.append(shown);
  localise(shown);
  shown.addEventListener("close", () => shown.remove());
  shown.showModal();
  shown.querySelector("#urgent-title").focus();
}

function dismiss(news) {
  closed.add(news.id);
  calls.get(news.id)?.remove();
  const dialog = document.querySelector(`dialog.urgent[open][data-id="${news.id}"]`);
  // Whoever is just sending an answer hears from that who won.
  if (dialog && !dialog.querySelector(".sending")) toast(news.ending, `/q/${news.id}`);
  dialog?.close();
}

function hear(news) {
  countSoon();
  if (!news.open) dismiss(news);
  if (!news.callsMe || called.has(`${news.id}:${news.version}`)) return;
  called.add(`${news.id}:${news.version}`);
  notify(`${news.agent} asks`, news.text, `/q/${news.id}`, news.id);
  if (news.urgent) open(news);
}

function jobEnded(news) {
  if (!news.answered) return;
  const text = `Job ${news.job} is ${news.status.replaceAll("_", " ")}. You answered for it.`;
  const path = `/jobs/${encodeURIComponent(news.job).replaceAll("%2F", "/")}`;
  toast(text, path);
  notify("Job ended", text, path, `job:${news.job}`);
}

export function startNotices() {
  offer();
  countSoon();
  window.addEventListener("handraise:question", (event) => event.detail.text !== undefined && hear(event.detail));
  window.addEventListener("handraise:job", (event) => jobEnded(event.detail));
  window.addEventListener("handraise:refreshed", countSoon);
}
