// Small parts that every view uses: bars, times, text of others, commands to copy.
import { html, useState } from "/page/lib/preact.js";
import { now } from "/page/data/clock.js";
import { isAtWork } from "/page/data/store.js";
import { Icon } from "/page/parts/icons.js";
import { duration, exact, percent, relative, visible, visibleLines } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Job} Job */

/** Text that a user or a program wrote. It is shown, never interpreted. @param {{ text: string, hasLines?: boolean }} props */
export function Others({ text, hasLines = false }) {
  return hasLines ? html`<bdi class="lines">${visibleLines(text)}</bdi>` : html`<bdi>${visible(text)}</bdi>`;
}

/** "3 min ago", with the exact time on hover. @param {{ at: string }} props */
export function Ago({ at }) {
  return html`<time datetime=${at} title=${exact(at)}>${relative(at)}</time>`;
}

/** How full something is. @param {{ fraction: number | null, label: string, kind?: string }} props */
export function Meter({ fraction, label, kind = "plain" }) {
  const value = Math.round(Math.min(1, Math.max(0, fraction ?? 0)) * 100);
  return html`<span class="meter" data-kind=${kind} role="meter" aria-label=${label} aria-valuenow=${value}
    aria-valuemin="0" aria-valuemax="100"><i style=${{ width: `${value}%` }}></i></span>`;
}

/** How long the job has been running, without its pauses. @param {Job} job */
export function elapsed(job) {
  if (job.elapsed_s === null) return null;
  const runs = isAtWork(job) && job.state !== "paused";
  return runs ? job.elapsed_s + Math.max(0, now.value - (job.readAt ?? now.value)) / 1000 : job.elapsed_s;
}

/** How long the job will still take, as far as its log shows. @param {Job} job */
export function timeLeft(job) {
  if (!job.progress || job.progress.eta_s === null || !isAtWork(job)) return null;
  const since = job.state === "paused" ? 0 : Math.max(0, now.value - (job.readAt ?? now.value)) / 1000;
  return Math.max(0, job.progress.eta_s - since);
}

/** A job's progress bar, percent and time left. @param {{ job: Job }} props */
export function Progress({ job }) {
  if (!job.progress || !isAtWork(job)) return null;
  const left = timeLeft(job);
  return html`<span class="progress">
    <span class="bar" role="progressbar" aria-label=${t("progress")} aria-valuemin="0" aria-valuemax="100"
      aria-valuenow=${Math.floor(job.progress.fraction * 100)}>
      <i data-state=${job.state} style=${{ width: `${job.progress.fraction * 100}%` }}></i>
    </span>
    <span class="number">${percent(job.progress.fraction)}</span>
    ${left !== null && html`<span class="left number quiet">${t("left", { time: duration(left) })}</span>`}
  </span>`;
}

/** @param {string} text */
export async function copy(text) {
  await navigator.clipboard.writeText(text);
}

/** A button that copies a command. @param {{ command: string, isBare?: boolean }} props */
export function CopyCommand({ command, isBare = false }) {
  const [isDone, setDone] = useState(false);
  const label = isDone ? t("copied") : t("copy_as", { command });
  const onClick = async () => {
    await copy(command);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="button ${isBare ? "bare" : ""}" title=${label} aria-label=${label} onClick=${onClick}>
    <${Icon} name=${isDone ? "succeeded" : "copy"} />
  </button>`;
}

/** @param {{ title: string, children?: unknown }} props */
export function Empty({ title, children }) {
  return html`<div class="empty"><p>${title}</p>${children}</div>`;
}
