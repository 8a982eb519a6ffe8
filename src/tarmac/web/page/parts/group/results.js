// The results of a group: which metrics to read, a plot and a table of them, the best first.
import { html, useEffect, useMemo, useState } from "/page/lib/preact.js";
import { API, post, send } from "/page/data/http.js";
import { CopyCommand } from "/page/parts/bits.js";
import { file, isAsked, order, patterns, request, resultsCommand } from "/page/parts/group/asked.js";
import { Plot } from "/page/parts/group/plot.js";
import { columnsOf, ResultsTable, sortedRows } from "/page/parts/group/table.js";
import { MetricForm } from "/page/parts/group/metric_form.js";
import { sayRefusal } from "/page/parts/toast.js";
import { query } from "/page/router/router.js";
import { visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/parts/group/asked.js").Results} Results
 * @typedef {import("/page/data/types.js").Job} Job
 */

/** @param {number} group @param {string} turn read again if it changes */
function useResults(group, turn) {
  const [found, setFound] = useState(/** @type {{ results: Results | null, problem: string }} */ ({ results: null, problem: "" }));
  const key = ["metric", "json", "keys"].map((name) => query.value.get(name) ?? "").join("\0");
  useEffect(() => {
    let isWanted = true;
    if (!isAsked()) setFound({ results: null, problem: "" });
    else {
      post("/results", request(group)).then(
        (results) => isWanted && setFound({ results, problem: "" }),
        (error) => isWanted && setFound({ results: null, problem: [error.message, error.hint].filter(Boolean).join(" ") }),
      );
    }
    return () => void (isWanted = false);
  }, [group, key, turn]);
  return found;
}

/** @param {{ group: number, members: Job[] }} props */
export function GroupResults({ group, members }) {
  const ended = members.filter((job) => job.ended_at !== null).length;
  const { results, problem } = useResults(group, String(ended));
  const command = resultsCommand(group, results);
  return html`<section class="results" aria-label=${t("group.results")}>
    <h2>${t("group.results")}</h2>
    <${MetricForm} key=${`${patterns().length}${file()}`} />
    ${!isAsked() && html`<p class="quiet teach">${t("results.teach")}</p>`}
    ${problem && html`<p class="notice bad" role="alert">${problem}</p>`}
    ${isAsked() && !results && !problem && html`<p class="quiet" role="status">${t("results.busy")}</p>`}
    ${isAsked() && html`<div class="take"><p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>
      ${results && html`<${Download} group=${group} results=${results} />`}</div>`}
    ${results && html`<${Warnings} results=${results} />`}
    ${results && results.metrics.length > 0 && html`<${Found} results=${results} members=${members} />`}
  </section>`;
}

/** @param {{ results: Results }} props */
function Warnings({ results }) {
  const lines = results.metrics
    .filter((name) => results.jobs.every((job) => job.metrics[name] === null))
    .map((name) => t("results.none_of", { name: visible(name) }));
  if (file() && !results.metrics.length) lines.push(t("results.no_values", { file: visible(file()) }));
  if (results.unread.length) lines.push(t("results.unread", { n: results.unread.length }));
  return lines.map((line) => html`<p class="notice">${line}</p>`);
}

/** @param {{ results: Results, members: Job[] }} props */
function Found({ results, members }) {
  const now = useMemo(() => new Map(members.map((job) => [job.id, job.state])), [members]);
  const rows = useMemo(() => results.jobs.map((job) => ({ ...job, state: now.get(job.id) ?? job.state })), [results, now]);
  const columns = useMemo(() => columnsOf(rows, results.metrics), [rows, results.metrics]);
  const first = results.metrics[0];
  const metric = columns.find((column) => column.key === first);
  const ranked = sortedRows(rows, metric, !results.smaller_is_better.includes(first));
  const best = typeof ranked[0]?.metrics[first] === "number" ? ranked[0].id : null;
  return html`<div class="found">
    <${Plot} results=${results} ranked=${ranked} />
    <${ResultsTable} rows=${rows} columns=${columns} order=${order(results)} best=${best} label=${t("group.results")} />
  </div>`;
}

/** @param {{ group: number, results: Results }} props */
function Download({ group, results }) {
  const save = async () => {
    const { name, isDown } = order(results);
    const by = results.metrics.includes(name) ? { sort: name, smaller_first: !isDown } : {};
    try {
      const answer = await send("POST", `${API}/results/csv`, { body: { ...request(group), ...by } });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "results.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (error) {
      sayRefusal(error, `${resultsCommand(group, results)} --csv`);
    }
  };
  return html`<button type="button" class="button" title=${`${resultsCommand(group, results)} --csv`} onClick=${save}>${t("results.csv")}</button>`;
}
