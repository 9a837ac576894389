// Hears what happens. Of several tabs one listens and tells the others, since browsers allow few connections to a server.
const channel = "BroadcastChannel" in window ? new BroadcastChannel("handraise") : null;
const POSITION = "handraise.position";
let source = null;
let broken = false;

const tell = (name, detail) => window.dispatchEvent(new CustomEvent(`handraise:${name}`, { detail }));

function spread(name, detail) {
  tell(name, detail);
  channel?.postMessage({ name, detail });
}

function state(text) {
  const place = document.getElementById("connection");
  if (place && place.textContent !== text) place.textContent = text;
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
  source.addEventListener("signed_out", () => {
    source.close();
    spread("signed-out", {});
  });
  source.addEventListener("error", () => {
    broken = true;
    spread("disconnected", {});
    // A browser does not try again by itself after a refusal, such as a server that is just starting.
    if (source.readyState === EventSource.CLOSED) {
      source = null;
      setTimeout(listen, 2000);
    }
  });
}

// Somebody who has the inbox before their eyes needs no reminder elsewhere yet.
function look() {
  if (document.visibilityState !== "visible") return;
  const body = new URLSearchParams({ token: document.body.dataset.token });
  fetch("/looking", { method: "POST", body, headers: { "X-Handraise": "1" } }).catch(() => {});
}

function isLive(live, text) {
  document.body.dataset.live = live ? "yes" : "no";
  state(text);
}

export function startLive() {
  window.addEventListener("handraise:connected", () => isLive(true, ""));
  window.addEventListener("handraise:disconnected", () => isLive(false, "reconnecting…"));
  window.addEventListener("handraise:signed-out", () => isLive(false, "signed out"));
  // A tab that opens later asks whether another one listens for it already.
  window.addEventListener("handraise:anybody", () => source?.readyState === EventSource.OPEN && spread("connected", {}));
  channel?.addEventListener("message", (event) => tell(event.data.name, event.data.detail));
  channel?.postMessage({ name: "anybody", detail: {} });
  // The lock is held until this tab closes; then the next one takes over. Pages over plain http have no locks.
  if (navigator.locks) navigator.locks.request("handraise-live", () => (listen(), new Promise(() => {})));
  else listen();
  look();
  setInterval(look, 25_000);
  document.addEventListener("visibilitychange", look);
}
