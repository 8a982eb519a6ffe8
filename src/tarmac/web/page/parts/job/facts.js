// What is known about a job: facts, attempts, what happened to it, its environment.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { get } from "/page/data/http.js";
import { isEnded } from "/page/data/store.js";
import { move, moveCommand } from "/page/parts/job/actions.js";
import { Ago, CopyCommand, elapsed, Others } from "/page/parts/bits.js";
import { mayChange } from "/page/parts/job/rights.js";
import { gpusOf, nodesOf, reasonOf } from "/page/parts/job/names.js";
import { NodeLink } from "/page/parts/nodes/state.js";
import { State } from "/page/parts/state.js";
import { query, setQuery } from "/page/router/router.js";
import { commandText, duration, exact, gigabytes, shellCommand, size, visibleLines } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {{
 *   attempt: number, state: string, reason: string | null, exit_code: number | null, signal: number | null,
 *   node: string, gpus: import("/page/data/types.js").GpuRef[], started_at: string | null, ended_at: string | null,
 *   elapsed_s: number | null, peak_gpu_memory_bytes: number | null, error_line: string | null,
 * }} Attempt
 * @typedef {Job & {
 *   message: string | null, error_line: string | null, hint: string | null, why: string[], pid: number | null,
 *   shell: string | null, adopted: boolean, attempts: Attempt[], note: string | null,
 *   reserved_gpu_memory_bytes: number | null, held_gpu_s: number, used_gpu_s: number, clone_of: number | null,
 *   rerun_of: number | null, after: string[], python: { path: string, version: string } | null,
 *   snapshot: { commit: string | null, branch: string | null, changed: number | null, root: string } | null, grace_s: number,
 *   begin_at: string | number | null, energy_j: number | null, log_path: string,
 * }} WholeJob
 */

const MEASURED_AFTER_S = 5; // the load of a shorter attempt is not a measurement

/** @param {{ job: WholeJob }} props */
export function Facts({ job }) {
  const command = job.shell ?? shellCommand(job.command);
  return html`<section class="facts" aria-label=${t("facts")}>
    <div class="command-box"><pre tabindex="0" aria-label=${t("column.command")}>${visibleLines(job.shell ?? commandText(job.command))}</pre><${CopyCommand} command=${command} isBare /></div>
    <dl>${rowsOf(job).map(([word, value]) => html`<dt>${t(word)}</dt><dd>${value}</dd>`)}</dl>
  </section>`;
}

/** Words and values, without those that say nothing. @param {WholeJob} job @returns {[string, unknown][]} */
function rowsOf(job) {
  const job_link = (/** @type {number} */ id) => html`<a class="link" href=${`/jobs/${id}`}>#${id}</a> `;
  const memory = job.reserved_gpu_memory_bytes;
  /** @type {[string, unknown][]} */
  const rows = [
    ["column.owner", html`<${Others} text=${job.owner} />`],
    ["fact.submitted", html`<${Ago} at=${job.submitted_at} />`],
    ["fact.started", job.started_at && html`<${Ago} at=${job.started_at} />`],
    ["fact.ended", job.ended_at && html`<${Ago} at=${job.ended_at} />`],
    ["column.gpus", html`${gpusOf(job)}${nodesOf(job).map((name) => html` · <${NodeLink} name=${name} />`)}`],
    [
      "fact.gpu_memory",
      memory &&
        (job.peak_gpu_memory_bytes
          ? t("fact.peak_of", { peak: gigabytes(job.peak_gpu_memory_bytes), total: gigabytes(memory, true) })
          : !isEnded(job) && t("fact.reserved_memory", { total: gigabytes(memory, true) })),
    ],
    ["utilization", job.utilization !== null && (elapsed(job) ?? 0) >= MEASURED_AFTER_S && `${Math.round(job.utilization)} %`],
    ["fact.gpu_time", job.held_gpu_s > 0 && duration(job.held_gpu_s)],
    ["fact.pauses", job.pause_s >= 1 && duration(job.pause_s)],
    ["fact.limit", job.time_limit_s && duration(job.time_limit_s)],
    ["fact.priority", `${job.priority}${job.tier === "normal" ? "" : ` · ${t(`tier.${job.tier}`)}`}`],
    ["fact.position", job.position !== null && html`<${Position} job=${job} />`],
    ["fact.after", job.after.length > 0 && job.after.map((one) => job_link(parseInt(one, 10)))],
    ["fact.rerun_of", job.rerun_of !== null && job_link(job.rerun_of)],
    ["fact.clone_of", job.clone_of !== null && job_link(job.clone_of)],
    [
      "fact.tags",
      job.tags.length > 0 &&
        job.tags.map(
          (tag) =>
            html`<a class="tag" href=${`/queue?state=all&text=${encodeURIComponent(`tag:${tag}`)}`}><${Others} text=${tag} /></a> `,
        ),
    ],
    ["fact.project", job.project && html`<${Others} text=${job.project} />`],
    ["fact.note", job.note && html`<${Others} text=${job.note} hasLines />`],
    [
      "fact.links",
      job.links?.length > 0 &&
        job.links
          .filter((link) => /^https?:\/\//.test(link.url))
          .map((link) => html`<a class="link" href=${link.url} target="_blank" rel="noreferrer">${link.kind}</a> `),
    ],
    ["fact.cwd", html`<code><${Others} text=${job.cwd} /></code>`],
    [
      "fact.python",
      job.python && html`${job.python.version} <code class="quiet"><${Others} text=${job.python.path} /></code>`,
    ],
    ["fact.pid", job.pid],
  ];
  return rows.filter(
    ([, value]) => value !== null && value !== undefined && value !== false && value !== 0 && value !== "",
  );
}

/** The place in the queue, which its owner can change. @param {{ job: WholeJob }} props */
function Position({ job }) {
  const [text, setText] = useState("");
  const position = Number(text);
  const isGood = Number.isInteger(position) && position > 0;
  const isOther = isGood && position !== job.position;
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isOther) void move(job, position).then(() => setText(""));
  };
  if (!mayChange(job)) return job.position;
  return html`<form class="position" onSubmit=${onSubmit}>
    <span>${job.position}</span>
    <input class="field" inputmode="numeric" size="4" aria-label=${t("fact.new_position")} placeholder=${t("fact.new_position")} value=${text} aria-invalid=${text !== "" && !isGood}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
    ${isOther && html`<span class="split"><button class="button">${t("do.move")}</button><${CopyCommand} command=${moveCommand(job, position)} /></span>`}
    ${text !== "" && !isGood && html`<span class="warning" role="alert">${t("fact.bad_position")}</span>`}
  </form>`;
}

/** @param {{ job: WholeJob, chosen: number | null }} props */
export function Attempts({ job, chosen }) {
  if (job.attempts.length < 1) return null;
  return html`<section aria-label=${t("attempts")}>
    <h2>${t("attempts")}</h2>
    <table class="attempts"><thead><tr>
      <th>#</th><th>${t("column.state")}</th><th>${t("column.gpus")}</th><th class="number">${t("fact.ran")}</th><th class="number">${t("fact.peak")}</th><th class="number">${t("fact.started")}</th>
    </tr></thead><tbody>
      ${[...job.attempts].reverse().map(
        (one) => html`<tr key=${one.attempt} aria-current=${(chosen ?? job.attempt) === one.attempt}>
          <td><button type="button" class="link" aria-label=${t("log.of_attempt", { n: one.attempt })}
            onClick=${() => setQuery({ attempt: one.attempt === job.attempt ? null : String(one.attempt) }, { isStep: true })}>${one.attempt}</button></td>
          <td><${State} state=${one.state} /> <span class="quiet">${reasonOf(/** @type {any} */ (one))}</span></td>
          <td>${one.gpus.map((gpu) => gpu.name).join(",")}</td>
          <td class="number">${one.elapsed_s === null ? "" : duration(one.elapsed_s)}</td>
          <td class="number">${one.peak_gpu_memory_bytes ? size(one.peak_gpu_memory_bytes) : ""}</td>
          <td class="number">${one.started_at && html`<${Ago} at=${one.started_at} />`}</td>
        </tr>`,
      )}
    </tbody></table>
  </section>`;
}

/** @typedef {{ id: number, at: string, kind: string, detail: any }} StoryEvent */

/** @param {StoryEvent} event */
const wordOf = ({ kind, detail }) => (kind === "Decided" && !detail?.gpus?.length ? "event.Decided.no_gpu" : `event.${kind}`);

/** What happened to it. @param {{ id: number, turn: string }} props */
export function Timeline({ id, turn }) {
  const [events, setEvents] = useState(/** @type {StoryEvent[]} */ ([]));
  useEffect(
    () =>
      void get(`/jobs/${id}/events`).then(
        (story) => setEvents(story.events),
        () => undefined,
      ),
    [id, turn],
  );
  if (!events.length) return null;
  return html`<section aria-label=${t("timeline")}>
    <h2>${t("timeline")}</h2>
    <ol class="timeline">
      ${[...events].reverse().map((one) => html`<li key=${one.id}><time datetime=${one.at} title=${exact(one.at)}>${new Date(one.at).toLocaleTimeString("en-GB")}</time> <span>${t(wordOf(one))}</span></li>`)}
    </ol>
  </section>`;
}

/** The variables it was submitted with; those of others and secret values stay hidden. @param {{ id: number }} props */
export function Environment({ id }) {
  const [variables, setVariables] = useState(/** @type {{ name: string, value: string | null }[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const isOpen = query.value.get("tab") === "environment";
  useEffect(() => {
    if (!isOpen || variables) return;
    get(`/jobs/${id}/environment`).then(
      (answer) => setVariables(answer.variables),
      (error) => setProblem(error.message),
    );
  }, [id, isOpen]);
  const onToggle = (/** @type {any} */ event) =>
    event.target.open !== isOpen && setQuery({ tab: event.target.open ? "environment" : null });
  return html`<details class="environment" open=${isOpen} onToggle=${onToggle}>
    <summary>${t("environment")}</summary>
    ${problem && html`<p class="quiet">${problem}</p>`}
    ${variables && html`<dl class="mono">${variables.map(({ name, value }) => html`<dt><${Others} text=${name} /></dt><dd>${value === null ? "••••••" : html`<${Others} text=${value} />`}</dd>`)}</dl>`}
  </details>`;
}
