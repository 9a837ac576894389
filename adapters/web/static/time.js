// Countdowns and times in the reader's own zone. The server's clock counts: pages say what it was when they were made.
const skew = Date.parse(document.body.dataset.now ?? "") - Date.now() || 0;
const asked = new Map();

export const serverNow = () => Date.now() + skew;

function words(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes < 10 ? `${minutes} min ${seconds % 60} s left` : `${minutes} min left`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min left` : `${Math.floor(hours / 24)} days left`;
}

function tick() {
  for (const element of document.querySelectorAll("time[data-deadline]")) {
    const left = Date.parse(element.dateTime) - serverNow();
    const text = left > 0 ? words(left) : "time is up";
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle("soon", left > 0 && left < 120_000);
    element.classList.toggle("over", left <= 0);
    if (left <= 0) overdue(element);
  }
}

// What becomes of an expired question is the server's to say; ask it until it has said so.
function overdue(element) {
  const id = element.closest("[data-id],[data-question]")?.dataset;
  const question = id?.id ?? id?.question;
  if (!question || (asked.get(question) ?? 0) > Date.now() - 1500) return;
  asked.set(question, Date.now());
  window.dispatchEvent(new CustomEvent("handraise:question", { detail: { id: question, name: "overdue" } }));
}

export function localise(root = document) {
  for (const element of root.querySelectorAll("time[data-when]:not([title])")) {
    const at = new Date(element.dateTime);
    element.title = element.textContent;
    const sameDay = at.toDateString() === new Date().toDateString();
    const day = sameDay ? {} : { year: "numeric", month: "short", day: "numeric" };
    element.textContent = at.toLocaleString(undefined, { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit" });
  }
}

export function startTime() {
  localise();
  tick();
  setInterval(tick, 1000);
}
