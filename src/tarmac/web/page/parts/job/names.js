// How a job is named and linked to.
import { html } from "/page/lib/preact.js";
import { isAtWork } from "/page/data/store.js";
import { Ago, Others } from "/page/parts/bits.js";
import { clock, commandText, exact } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Job} Job */

/** What differs within a group first. @param {Job} job */
export function nameOf(job) {
  const differs = Object.entries(job.params ?? {}).map(([name, value]) => `${name}=${value}`);
  if (job.index !== null && job.index !== undefined) differs.push(`[${job.index}]`);
  return [differs.join(" "), job.name].filter(Boolean).join(" · ");
}

/** @param {{ job: Job }} props */
export function JobLink({ job }) {
  return html`<a class="job-link cut" href=${`/jobs/${job.id}`}><span class="id">#${job.id}</span>
    ${" "}<${Others} text=${nameOf(job) || commandText(job.command)} /></a>`;
}

/** `0`, `0-3`, or `gpu01:0` if there are several nodes. @param {Job} job */
export function gpusOf(job) {
  if (!job.gpus?.length) return job.gpus_asked ? `(${job.gpus_asked})` : "–";
  const names = job.gpus.map((gpu) => gpu.name);
  const numbers = names.map(Number);
  const isRun = numbers.length > 2 && numbers.every((n, i) => !i || n === numbers[i - 1] + 1);
  return isRun ? `${names[0]}-${names.at(-1)}` : names.join(",");
}

/** The nodes that it runs on, or ran on last: the one with its first process first. @param {Job} job */
export function nodesOf(job) {
  const others = [...(job.parts ?? []), ...(job.gpus ?? [])].map((one) => one.node);
  return job.node === null ? [] : [...new Set([job.node, ...others])];
}

/** When it started, or may start, or ended. @param {{ job: Job }} props */
export function When({ job }) {
  if (job.ended_at) return html`<${Ago} at=${job.ended_at} />`;
  if (isAtWork(job)) return job.started_at && html`<${Ago} at=${job.started_at} />`;
  if (job.waits_for?.length)
    return html`<span>${t("waits_for", { jobs: job.waits_for.map((id) => `#${id}`).join(", ") })}</span>`;
  if (job.estimated_start) {
    const title = `${exact(job.estimated_start)}${job.estimate_basis ? ` · ${job.estimate_basis}` : ""}`;
    return html`<time datetime=${job.estimated_start} title=${title}>~${clock(job.estimated_start)}</time>`;
  }
  return null;
}

/** Why it failed, in short. @param {Job} job */
export function reasonOf(job) {
  if (job.state !== "failed" && job.state !== "unknown") return "";
  if (job.reason === "exit" && job.exit_code !== null) return t("exit", { code: job.exit_code });
  if (job.reason === "signal" && job.signal !== null) return t("signal", { number: job.signal });
  const key = `reason.${job.reason}`;
  const words = t(key);
  return words === key ? (job.reason ?? "") : words;
}
