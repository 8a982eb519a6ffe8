// Views with a name: filters, sort and columns. A view is an address, so that it can also be shared; the names are kept
// in this browser, for each user.
import { signal } from "/page/lib/signals.js";
import { session } from "/page/data/http.js";

/** @typedef {{ name: string, search: string }} SavedView */

const PARTS = ["state", "owner", "project", "tag", "node", "text", "sort", "columns", "rows"];

const version = signal(0);
const key = () => `tarmac.queue.views.${session.value?.user ?? ""}`;

/** @returns {SavedView[]} */
export function savedViews() {
  version.value;
  try {
    const kept = JSON.parse(localStorage.getItem(key()) ?? "[]");
    return kept.filter((/** @type {any} */ one) => typeof one?.name === "string" && typeof one?.search === "string");
  } catch {
    return [];
  }
}

/** @param {SavedView[]} views */
function keep(views) {
  localStorage.setItem(key(), JSON.stringify(views));
  version.value += 1;
}

/** The parts of a query that a view consists of. @param {URLSearchParams} query */
export function searchOf(query) {
  const found = new URLSearchParams();
  for (const name of PARTS) {
    const value = query.get(name);
    if (value) found.set(name, value);
  }
  return found.toString();
}

/** Save it, in place of one with the same name. @param {string} name @param {string} search */
export function saveView(name, search) {
  keep([...savedViews().filter((one) => one.name !== name), { name, search }]);
}

/** @param {string} name */
export function forgetView(name) {
  keep(savedViews().filter((one) => one.name !== name));
}
