// What a report asks for, as the address says it, and its figures as the page writes them.
import { API, queryText } from "/page/data/http.js";
import { query } from "/page/router/router.js";
import { locale } from "/page/words/words.js";
import { shellWord } from "/page/words/format.js";

/**
 * @typedef {{
 *   jobs: number | null, held_s: number, pause_s: number, measured_s: number, used_s: number,
 *   utilization: number | null, energy_j: number | null, peak_gpu_memory_bytes: number | null,
 * }} Sums
 * @typedef {Sums & { name: string | null, node: string | null, uuid: string | null }} ReportRow
 * @typedef {{ by: string, since: string, until: string, rows: ReportRow[], foreign: Sums | null, total: Sums }} Report
 * @typedef {{
 *   day: string, present_s: (number | null)[], held_s: (number | null)[], measured_s: (number | null)[],
 *   used_s: (number | null)[],
 * }} DayOfHours
 */

export const GROUPS = ["owner", "project", "gpu", "day"];
export const PERIODS = [7, 30, 90];
const DEFAULT_DAYS = 30;
const HOUR_S = 3600;

export const groupedBy = () => {
  const by = query.value.get("by") ?? "";
  return GROUPS.includes(by) ? by : "owner";
};

/** The days of the period, or 0 if its dates are chosen. */
export function periodDays() {
  if (query.value.get("from") || query.value.get("to")) return 0;
  const days = Number(query.value.get("days"));
  return PERIODS.includes(days) ? days : DEFAULT_DAYS;
}

/** The period as the API takes it. */
export function period() {
  const days = periodDays();
  if (!days) return { first_day: query.value.get("from"), last_day: query.value.get("to") };
  return { since: Math.floor(Date.now() / 1000) - days * 86_400 };
}

/** Only one owner, or one project; an empty text stands for jobs without a project. */
export const only = () => ({
  owner: query.value.get("owner"),
  project: query.value.has("project") ? (query.value.get("project") ?? "") : undefined,
});

/** What is asked of the API. @param {string} by */
export function reportQuery(by) {
  const { owner, project } = only();
  const text = queryText({ by, ...period(), owner });
  return project === undefined ? text : `${text}&project=${encodeURIComponent(project)}`;
}

/** The address of the CSV file of what is shown. */
export const csvAddress = () => `${API}/report/csv${reportQuery(groupedBy())}`;

/** The command that prints the same. */
export function reportCommand() {
  const words = ["tarmac", "report"];
  const add = (/** @type {string} */ flag, /** @type {string | null | undefined} */ value) =>
    value && words.push(flag, shellWord(value));
  if (groupedBy() !== "owner") add("--by", groupedBy());
  const days = periodDays();
  if (days && days !== DEFAULT_DAYS) add("--since", `${days}d`);
  add("--since", query.value.get("from"));
  add("--until", query.value.get("to"));
  add("--owner", only().owner);
  if (only().project !== undefined) words.push("--project", shellWord(only().project ?? ""));
  return words.join(" ");
}

/** Rounded as the command line rounds: halves to the even digit. @param {number} value @param {number} decimals */
const rounded = (value, decimals) =>
  value.toLocaleString(locale.value, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    roundingMode: "halfEven",
  });

/** GPU-hours, all with the same number of decimals: 1,250.0 and 3.2, or 0.02. @param {number} largest of those shown */
export function hoursLike(largest) {
  const decimals = largest / HOUR_S >= 10 ? 1 : 2;
  const least = 10 ** -decimals;
  return (/** @type {number | null} */ seconds) => {
    if (seconds === null) return "–";
    const hours = seconds / HOUR_S;
    if (hours > 0 && hours < least / 2) return `<${least.toFixed(decimals)}`;
    return rounded(hours, decimals);
  };
}

/** @param {number | null} joules */
export function energyText(joules) {
  if (!joules) return "–";
  const wattHours = joules / 3600;
  return wattHours < 1000 ? `${rounded(wattHours, wattHours < 10 ? 1 : 0)} Wh` : `${rounded(wattHours / 1000, 1)} kWh`;
}

/** @param {number | null} utilization */
export const utilizationText = (utilization) => (utilization === null ? "–" : `${rounded(utilization, 0)} %`);
