// Which results are asked for, as the address says it.
import { query } from "/page/router/router.js";
import { shellWord } from "/page/words/format.js";

/**
 * @typedef {{ id: number, name: string | null, state: string, index: number | null, params: Record<string, string>, metrics: Record<string, number | string | null> }} Result
 * @typedef {{ metrics: string[], smaller_is_better: string[], jobs: Result[], unread: number[] }} Results
 */

/** The patterns, one for each line of the address. */
export const patterns = () => (query.value.get("metric") ?? "").split("\n").filter(Boolean);
export const file = () => query.value.get("json") ?? "";
export const keys = () => (query.value.get("keys") ?? "").split(",").map((key) => key.trim()).filter(Boolean);
export const isAsked = () => patterns().length > 0 || file() !== "";

/** The request to the API. @param {number} group */
export function request(group) {
  return {
    group: String(group),
    metrics: patterns().map((pattern) => ({ pattern })),
    ...(file() && { json: file(), keys: keys() }),
  };
}

/** The metric that decides the order, and the direction. @param {Results} results */
export function order(results) {
  const sort = query.value.get("sort") ?? "";
  const name = sort.replace(/^-/, "");
  if (sort) return { name, isDown: sort.startsWith("-") };
  const first = results.metrics[0] ?? "id";
  return { name: first, isDown: results.metrics.length > 0 && !results.smaller_is_better.includes(first) };
}

/** @param {number} group @param {Results | null} results */
export function resultsCommand(group, results) {
  const words = ["tarmac", "results", String(group)];
  for (const pattern of patterns()) words.push("--metric", shellWord(pattern));
  if (file()) words.push(`--json=${shellWord(file())}`, ...keys().flatMap((key) => ["--metric", shellWord(key)]));
  const by = results && query.value.get("sort") ? order(results) : null;
  if (by && results?.metrics.includes(by.name)) {
    if (by.name !== results.metrics[0]) words.push("--sort", shellWord(by.name));
    if (by.isDown === results.smaller_is_better.includes(by.name)) words.push(by.isDown ? "--max" : "--min");
  }
  return words.join(" ");
}
