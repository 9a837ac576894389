// Hears what happens. Of several tabs one listens and tells the others, since browsers allow few connections to a server.
const me = document.body.dataset.me;
// Several people may use one browser one after the other; nobody hears what is meant for somebody else.
const OURS = `handraise.live.${me}`;
const POSITION = `handraise.position.${me}`;
// Pages over plain http have no locks. There each tab listens for itself.
const channel = navigator.locks && "BroadcastChannel" in window ? new BroadcastChannel(OURS) : null;
let isLeader = false;
let source = null;
let broken = false;

const tell = (name, detail) => window.dispatchEvent(new CustomEvent(`handraise:${name}`, { detail }));

function spread(name, detail) {
  tell(name, detail);
  channel?.postMessage({ name, detail });
}

function state(...words) {
  document.getElementById("connection").replaceChildren(...words);
}

function remember(event) {
  if (event.lastEventId) localStorage.setItem(POSITION, event.lastEventId);
}

function listen() {
  if (source) return;
  // From where the last page stopped listening, so that nothing in between is missed; the first time, from this page on.
  const after = localStorage.getItem(POSITION) ?? document.body.dataset.position;
  source = new EventSource(`/live?after=${encodeURIComponent(after)}`);
  source.addEventListener("hello", (event) => {
    // The browser has somebody else's session by now, and with it this page would show what is theirs.
    if (JSON.parse(event.data).me !== me) return location.reload();
    remember(event);
    if (broken) spread("stale", {});
    broken = false;
    spread("connected", {});
  });
  for (const name of ["question", "job"]) {
    source.addEventListener(name, (event) => {
      remember(event);
      spread(name, JSON.parse(event.data));
    });
  }
  source.addEventListener("signed_out", isSignedOut);
  source.addEventListener("error", () => {
    broken = true;
    spread("disconnected", {});
    // A browser does not try again by itself after a refusal: of a server that is just starting, or for want of a session.
    if (source?.readyState === EventSource.CLOSED) tryAgain();
  });
}

function stop() {
  source?.close();
  source = null;
  broken = true;
}

async function tryAgain() {
  stop();
  const heard = await fetch("/count", { headers: { "X-Handraise": "1" } }).catch(() => null);
  if (heard?.status === 401) isSignedOut();
  else setTimeout(listen, 2000);
}

function isSignedOut() {
  stop();
  spread("signed-out", {});
}

// Another tab of ours has opened. It wants to know whether somebody listens; if nobody does, somebody has signed in again.
function anybody() {
  if (!isLeader) return;
  if (source?.readyState === EventSource.OPEN) spread("connected", {});
  else if (broken && source) spread("disconnected", {});
  else listen();
}

// Somebody who has the inbox before their eyes needs no reminder elsewhere yet.
function look() {
  if (document.visibilityState !== "visible") return;
  const body = new URLSearchParams({ token: document.body.dataset.token });
  fetch("/looking", { method: "POST", body, headers: { "X-Handraise": "1" } }).catch(() => {});
}

function isLive(live, ...words) {
  document.body.dataset.live = live ? "yes" : "no";
  state(...words);
}

function signIn() {
  const link = document.createElement("a");
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Sign in";
  return link;
}

function lead() {
  isLeader = true;
  listen();
  return new Promise(() => {});
}

export function startLive() {
  window.addEventListener("handraise:connected", () => isLive(true));
  window.addEventListener("handraise:disconnected", () => isLive(false, "reconnecting…"));
  window.addEventListener("handraise:signed-out", () => isLive(false, "Signed out. ", signIn()));
  window.addEventListener("handraise:anybody", anybody);
  channel?.addEventListener("message", (event) => tell(event.data.name, event.data.detail));
  channel?.postMessage({ name: "anybody", detail: {} });
  // The lock is held until this tab closes; then the next one takes over.
  if (navigator.locks) navigator.locks.request(OURS, lead);
  else lead();
  look();
  setInterval(look, 25_000);
  document.addEventListener("visibilitychange", look);
}
