// Which ended jobs are wanted: the filters in the address, for the API and as a command.
import { API, queryText } from "/page/data/http.js";
import { query } from "/page/router/router.js";
import { shellWord } from "/page/words/format.js";

/** Days, by the word in the address. @type {Record<string, number>} */
export const SPANS = { "": 0, day: 1, week: 7, month: 30, quarter: 90 };
/** The flag of each filter, by its name in the address. @type {Record<string, string>} */
const FLAGS = { text: "--search", state: "--state", owner: "--owner", project: "--project", tag: "--tag", node: "--node" };
const DAY_S = 86_400;

const days = () => SPANS[query.value.get("span") ?? ""] ?? 0;

/** The conditions as the API takes them. */
export function wanted() {
  const of = (/** @type {string} */ name) => query.value.get(name);
  return {
    search: of("text"),
    state: of("state"),
    owner: of("owner"),
    project: of("project"),
    tag: of("tag"),
    node: of("node"),
    since: days() ? Math.floor(Date.now() / 1000) - days() * DAY_S : null,
  };
}

export const isFiltered = () => [...Object.keys(FLAGS), "span"].some((name) => query.value.get(name));

/** The command that prints the same jobs. */
export function historyCommand() {
  const words = ["tarmac", "history", "--all"];
  for (const [name, flag] of Object.entries(FLAGS)) {
    const value = query.value.get(name);
    if (value) words.push(flag, shellWord(value));
  }
  if (days()) words.push("--since", `${days()}d`);
  return words.join(" ");
}

export const csvAddress = () => `${API}/history/csv${queryText(wanted())}`;
