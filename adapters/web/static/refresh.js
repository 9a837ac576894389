// Brings a page up to date in place: the page is fetched again, and only the parts whose stamp changed are exchanged.
import { localise } from "./time.js";

const changed = new Set();
let timer = null;
let pause = 150;
let running = false;
let again = false;

async function page(address) {
  const response = await fetch(address, { headers: { "X-Handraise": "1" } });
  if (!response.ok) throw new Error(String(response.status));
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

const isTyping = (element) =>
  [...element.querySelectorAll("input:not([type=hidden]),textarea,select")].some((field) =>
    field.type === "checkbox" || field.type === "radio"
      ? field.checked !== field.defaultChecked && !field.hasAttribute("data-pick")
      : field.value !== (field.defaultValue ?? field.value),
  ) || element.querySelector(".sending");

// What somebody has typed or ticked and not sent goes along. Texts that nothing asks for any more stay to be read.
function carryOver(old, fresh) {
  const fields = "input:not([type=hidden]),textarea,select";
  const left = [];
  for (const field of old.querySelectorAll(fields)) {
    const isTick = field.type === "checkbox" || field.type === "radio";
    if (!field.name || (isTick ? field.checked === field.defaultChecked : field.value === field.defaultValue)) continue;
    const twin = [...fresh.querySelectorAll(fields)].find(
      (other) => other.name === field.name && other.type === field.type && (!isTick || other.value === field.value),
    );
    if (twin && isTick) twin.checked = field.checked;
    else if (twin) twin.value = field.value;
    else if (!isTick && field.matches("input,textarea") && field.value.trim()) left.push(field.value);
  }
  if (left.length) fresh.append(written(left.join("\n")));
}

function written(text) {
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = "What you had written and not sent:";
  const said = document.createElement("pre");
  said.textContent = text;
  const box = document.createElement("div");
  box.append(note, said);
  return box;
}

function exchange(old, fresh) {
  if (!fresh || old.dataset.stamp === fresh.dataset.stamp) return;
  const hadFocus = old.contains(document.activeElement) && old.tabIndex >= -1;
  const isCurrent = old.classList.contains("current");
  const replacement = document.importNode(fresh, true);
  carryOver(old, replacement);
  old.replaceWith(replacement);
  replacement.classList.toggle("current", isCurrent);
  if (hadFocus) replacement.focus?.({ preventScroll: true });
  localise(replacement);
  window.dispatchEvent(new CustomEvent("handraise:exchanged", { detail: { element: replacement } }));
}

// A card that somebody is writing in stays while it can still be answered; only what it says around the form is new.
function exchangeCard(old, fresh) {
  if (!fresh.querySelector("form[data-answer]") || !isTyping(old)) return exchange(old, fresh);
  if (old.dataset.stamp === fresh.dataset.stamp) return;
  for (const part of [".marks", ".footer"]) {
    const [before, now] = [old.querySelector(part), fresh.querySelector(part)];
    if (before && now) before.replaceWith(document.importNode(now, true));
    else if (before) before.remove();
    else if (now) old.querySelector(".text").after(document.importNode(now, true));
  }
}

export async function refreshCard(id) {
  const old = document.getElementById(`card-${id}`);
  if (!old) return;
  try {
    const found = (await page(`/q/${id}/card`)).querySelector(".question");
    if (found) exchangeCard(old, found);
  } catch {
    // gone or out of reach; the next news tries again
  }
}

async function refreshList(list, fresh, ids) {
  const found = new Map([...fresh.querySelectorAll("#questions > .question")].map((card) => [card.dataset.id, card]));
  for (const card of found.values()) {
    const old = document.getElementById(card.id);
    if (old) exchangeCard(old, card);
    else insert(list, card);
  }
  // What has left the list stays where it is and says how it ended.
  const gone = [...list.children].filter((card) => ids.has(card.dataset.id) && !found.has(card.dataset.id));
  await Promise.all(gone.map((card) => refreshCard(card.dataset.id)));
}

// Lists that somebody reads are not exchanged as a whole, so that what they read stays where it is.
function follow(list, fresh) {
  let last = null;
  for (const item of fresh?.children ?? []) {
    const old = document.getElementById(item.id);
    if (old && item.matches(".question")) exchangeCard(old, item);
    else if (old) exchange(old, item);
    else {
      const added = document.importNode(item, true);
      if (last) last.after(added);
      else list.prepend(added);
      localise(added);
    }
    last = document.getElementById(item.id);
  }
}

function insert(list, card) {
  const later = [...list.children].find((other) => other.dataset.place > card.dataset.place);
  const isBeyond = !later && document.getElementById("more");
  if (isBeyond) return;
  const fresh = document.importNode(card, true);
  list.insertBefore(fresh, later ?? null);
  localise(fresh);
}

async function refresh() {
  // Nothing here changes by itself; where a form led, the address may not even be a page.
  if (!document.querySelector("[data-part]")) return window.dispatchEvent(new CustomEvent("handraise:refreshed"));
  if (running) {
    again = true;
    return;
  }
  running = true;
  const ids = new Set(changed);
  changed.clear();
  const started = performance.now();
  try {
    const fresh = await page(location.href);
    const list = document.getElementById("questions");
    if (list) await refreshList(list, fresh, ids);
    else if (document.getElementById("list-frame") && fresh.getElementById("questions")) {
      document.getElementById("list-frame").replaceWith(document.importNode(fresh.getElementById("list-frame"), true));
      localise(document.getElementById("list-frame"));
    }
    for (const part of document.querySelectorAll("[data-part]")) exchange(part, fresh.getElementById(part.id));
    for (const each of document.querySelectorAll("[data-follows]")) follow(each, fresh.getElementById(each.id));
    document.title = fresh.title;
    window.dispatchEvent(new CustomEvent("handraise:refreshed"));
  } catch {
    // the stream says when the server is back, and then everything is read anew
  }
  // With very much going on, pages are brought up to date less often, so that they do not keep the server busy.
  pause = Math.min(3000, Math.max(150, (performance.now() - started) * 3));
  running = false;
  if (again) {
    again = false;
    plan();
  }
}

function plan() {
  clearTimeout(timer);
  timer = setTimeout(refresh, pause);
}

export function refreshSoon(id) {
  if (id) changed.add(id);
  plan();
}

function concerns(news) {
  const shown = document.querySelector("[data-question]");
  if (shown) return shown.dataset.question === news.id;
  if (document.getElementById("list-frame") || document.getElementById(`card-${news.id}`)) return true;
  if (document.getElementById("settled")) return news.open === false;
  return news.job !== undefined && document.getElementById("job")?.dataset.job === news.job;
}

export function startRefreshing() {
  window.addEventListener("handraise:question", (event) => {
    if (concerns(event.detail)) refreshSoon(event.detail.id);
  });
  window.addEventListener("handraise:job", (event) => {
    const shown = document.getElementById("job");
    if (document.getElementById("jobs") || shown?.dataset.job === event.detail.job) refreshSoon();
  });
  window.addEventListener("handraise:stale", () => {
    for (const card of document.querySelectorAll(".question")) changed.add(card.dataset.id);
    plan();
  });
  endless();
}

// The list goes on by itself when its end comes into view; the link does the same without a script.
function endless() {
  const more = document.getElementById("more");
  const list = document.getElementById("questions");
  if (!more || !list || !("IntersectionObserver" in window)) return;
  let loading = false;
  const load = async () => {
    if (loading) return;
    loading = true;
    try {
      const fresh = await page(more.href);
      for (const card of fresh.querySelectorAll("#questions > .question")) {
        if (!document.getElementById(card.id)) list.append(document.importNode(card, true));
      }
      localise(list);
      const next = fresh.getElementById("more");
      if (next) more.href = next.href;
      else {
        watcher.disconnect();
        more.remove();
      }
    } finally {
      loading = false;
    }
  };
  const watcher = new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && load(), { rootMargin: "600px" });
  watcher.observe(more);
  more.addEventListener("click", (event) => {
    event.preventDefault();
    load();
  });
}
