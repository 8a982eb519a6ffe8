// The columns of the queue: which there are, which are shown, and how each sorts.
import { chooseDensity, density } from "/page/data/appearance.js";
import { signal } from "/page/lib/signals.js";
import { AT_WORK } from "/page/data/store.js";
import { query, setQuery } from "/page/router/router.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {{ width: string, compare: (a: Job, b: Job) => number, isNumber?: boolean }} Column
 */

const KEPT = "tarmac.queue.columns";
const kept = signal(localStorage.getItem(KEPT) ?? "");

/** @param {string | null | undefined} a @param {string | null | undefined} b */
const byText = (a, b) => (a === b ? 0 : (a ?? "") < (b ?? "") ? -1 : 1);
/** @param {number | null | undefined} a @param {number | null | undefined} b */
const byNumber = (a, b) => (a ?? -1) - (b ?? -1);
/** When it started, may start or ended. @param {Job} job */
const timeOf = (job) => job.ended_at ?? (AT_WORK.includes(job.state) ? job.started_at : job.estimated_start);

/** @type {Record<string, Column>} */
export const COLUMNS = {
  state: { width: "88px", compare: (a, b) => byText(a.state, b.state) },
  id: { width: "56px", compare: (a, b) => a.id - b.id, isNumber: true },
  name: { width: "minmax(130px, 1.5fr)", compare: (a, b) => byText(a.name, b.name) },
  owner: { width: "76px", compare: (a, b) => byText(a.owner, b.owner) },
  gpus: { width: "50px", compare: (a, b) => a.gpus_asked - b.gpus_asked, isNumber: true },
  progress: {
    width: "minmax(210px, 1.2fr)",
    compare: (a, b) => byNumber(a.progress?.fraction, b.progress?.fraction),
  },
  when: { width: "96px", compare: (a, b) => byText(timeOf(a), timeOf(b)), isNumber: true },
  command: { width: "minmax(120px, 1.4fr)", compare: (a, b) => byText(a.command.join(" "), b.command.join(" ")) },
  position: { width: "66px", compare: (a, b) => byNumber(a.position, b.position), isNumber: true },
  priority: { width: "66px", compare: (a, b) => a.priority - b.priority, isNumber: true },
  elapsed: { width: "76px", compare: (a, b) => byNumber(a.elapsed_s, b.elapsed_s), isNumber: true },
  submitted: { width: "96px", compare: (a, b) => byText(a.submitted_at, b.submitted_at), isNumber: true },
  node: { width: "90px", compare: (a, b) => byText(a.node, b.node) },
  project: { width: "100px", compare: (a, b) => byText(a.project, b.project) },
  tags: { width: "minmax(90px, 0.8fr)", compare: (a, b) => byText(a.tags?.join(), b.tags?.join()) },
  memory: { width: "76px", compare: (a, b) => byNumber(a.peak_gpu_memory_bytes, b.peak_gpu_memory_bytes), isNumber: true },
  attempt: { width: "66px", compare: (a, b) => a.attempt - b.attempt, isNumber: true },
};

export const USUAL = ["state", "id", "name", "owner", "gpus", "progress", "when", "command"];
const WIDE = matchMedia("(width >= 1200px)");
const isWide = signal(WIDE.matches);
WIDE.addEventListener("change", (event) => (isWide.value = event.matches));

/** The columns that are shown, in their order: from the address, or as chosen before. */
export function shownColumns() {
  const chosen = (query.value.get("columns") ?? kept.value).split(",");
  const known = [...new Set(chosen)].filter((name) => name in COLUMNS);
  if (known.length) return known;
  return isWide.value ? USUAL : USUAL.filter((name) => name !== "command");
}

/** @param {string[] | null} names null: the usual ones */
export function chooseColumns(names) {
  const text = names && names.join() !== USUAL.join() ? names.join() : null;
  kept.value = text ?? "";
  localStorage.setItem(KEPT, kept.value);
  setQuery({ columns: text });
}

/** @param {string[]} names */
export const template = (names) => `18px ${names.map((name) => COLUMNS[name].width).join(" ")}`;

/** True if rows are 32 pixels high instead of 40. */
export function isDense() {
  return (query.value.get("rows") ?? density.value) === "dense";
}

/** @param {boolean} isOn */
export function chooseRows(isOn) {
  chooseDensity(isOn ? "dense" : "");
  setQuery({ rows: isOn ? "dense" : "normal" });
}
