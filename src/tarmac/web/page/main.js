// The page begins here: who is logged in, and the view that the address names.
import { html, render, useEffect, useErrorBoundary, useState } from "/page/lib/preact.js";
import { effect } from "/page/lib/signals.js";
import { later, style } from "/page/lib/later.js";
import { startClock } from "/page/data/clock.js";
import { findSession, session } from "/page/data/http.js";
import { startStream } from "/page/data/stream.js";
import { Empty } from "/page/parts/bits.js";
import { startKeyboard } from "/page/parts/keyboard.js";
import { Shell } from "/page/parts/shell.js";
import { path, query, startRouter } from "/page/router/router.js";
import { language, t } from "/page/words/words.js";
import { Login } from "/page/views/login.js";
import { Overview } from "/page/views/overview.js";

const WALL_RELOAD_MS = 10_000; // nobody is there to press the button

/**
 * A view that is read, with its style sheets, when it is first shown. It gets the group of the pattern as `word`.
 * @typedef {{ pattern: RegExp, name: string, load: () => Promise<any>, sheet: string }} LaterView
 */

/** @type {LaterView[]} */
const LATER = [
  { pattern: /^\/queue$/, name: "Queue", load: () => import("/page/views/queue.js"), sheet: "lists queue" },
  { pattern: /^\/history$/, name: "History", load: () => import("/page/views/history.js"), sheet: "lists history" },
  { pattern: /^\/reports$/, name: "Reports", load: () => import("/page/views/reports.js"), sheet: "lists reports" },
  { pattern: /^\/groups\/(\d+)$/, name: "GroupPage", load: () => import("/page/views/group.js"), sheet: "lists group" },
  { pattern: /^\/nodes$/, name: "Nodes", load: () => import("/page/views/nodes.js"), sheet: "nodes" },
  { pattern: /^\/nodes\/([^/]+)$/, name: "NodePage", load: () => import("/page/views/node.js"), sheet: "lists queue nodes" },
  { pattern: /^\/reserve$/, name: "Reserve", load: () => import("/page/views/reserve.js"), sheet: "reserve" },
  { pattern: /^\/settings$/, name: "Settings", load: () => import("/page/views/settings.js"), sheet: "panels" },
  { pattern: /^\/admin$/, name: "Admin", load: () => import("/page/views/admin.js"), sheet: "admin" },
  { pattern: /^\/new$/, name: "New", load: () => import("/page/views/new.js"), sheet: "form" },
  { pattern: /^\/jobs\/(\d+)\/edit$/, name: "EditView", load: () => import("/page/views/changed_job.js"), sheet: "form" },
  { pattern: /^\/jobs\/(\d+)$/, name: "JobView", load: () => import("/page/views/job.js"), sheet: "job" },
];

/** @param {LaterView} view @returns {Promise<any>} its module */
async function read({ load, sheet }) {
  const sheets = sheet.split(" ").map((name) => style(`/page/look/${name}.css`));
  const [module] = await Promise.all([later(load), ...sheets]);
  return module;
}

/** @param {{ view: LaterView, word: string }} props */
function Later({ view, word }) {
  const [shown, setShown] = useState(/** @type {{ Part: any } | null} */ (null));
  useEffect(() => void read(view).then((module) => setShown({ Part: module[view.name] })), [view]);
  return shown && html`<${shown.Part} key=${word} word=${word} />`;
}

function View() {
  if (path.value === "/") return html`<${Overview} />`;
  for (const view of LATER) {
    const found = view.pattern.exec(path.value);
    if (found) return html`<${Later} key=${view.name} view=${view} word=${found[1] ?? ""} />`;
  }
  return html`<${Empty} title=${t("no_such_view")}><a class="button" href="/">${t("view.overview")}</a><//>`;
}

function Page() {
  const [error] = useErrorBoundary((caught) => console.error(caught));
  language.value;
  useEffect(() => {
    if (error && query.peek().get("wall")) setTimeout(() => location.reload(), WALL_RELOAD_MS);
  }, [error]);
  if (error) {
    return html`<main class="login"><h1>${t("broken")}</h1><p class="mono">${String(error)}</p>
      <button type="button" class="button first" onClick=${() => location.reload()}>${t("reload")}</button></main>`;
  }
  if (session.value === undefined) return null;
  if (session.value === null || path.value === "/login") return html`<${Login} />`;
  return html`<${Shell}><${View} key=${language.value} /><//>`; // with the sentences of the server read again
}

/** Ask until the server answers: the page may be opened while the controller restarts. */
async function start() {
  for (;;) {
    try {
      return await findSession();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** Read the module of the view while the session is asked for. */
function foresee() {
  for (const view of LATER) if (view.pattern.test(path.peek())) void read(view);
}

sessionStorage.removeItem("tarmac.loads"); // see again.js
foresee();
startRouter();
startClock();
startKeyboard();
startStream();
effect(() => {
  document.title = session.value ? `Tarmac` : `Tarmac · ${t("login.enter")}`;
});
render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
void start();
