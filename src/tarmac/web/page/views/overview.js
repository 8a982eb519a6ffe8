// All GPUs at a glance: what is on them, what waits, what ended.
import { html, useEffect } from "/page/lib/preact.js";
import { computed } from "/page/lib/signals.js";
import { gpuError, gpus, isLoaded, isWaiting, jobs, jobsVersion, nodes } from "/page/data/store.js";
import { followTrends } from "/page/data/trends.js";
import { Ago, CopyCommand, Empty, Others, elapsed } from "/page/parts/bits.js";
import { ManagedGpu } from "/page/parts/gpu/manage.js";
import { NodePart, shownRange } from "/page/parts/gpu/node_part.js";
import { JobLink, reasonOf } from "/page/parts/job/names.js";
import { State } from "/page/parts/state.js";
import { clock, duration, whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Job} Job */

const RECENT = 8;

const waiting = computed(() => (jobsVersion.value, [...jobs.values()].filter(isWaiting)));

const recent = computed(() => {
  jobsVersion.value;
  const ended = [...jobs.values()].filter((job) => job.ended_at !== null);
  return ended.sort((a, b) => (b.ended_at ?? "").localeCompare(a.ended_at ?? "")).slice(0, RECENT);
});

export function Overview() {
  const { range, isDense } = shownRange(gpus.value.length);
  // Cells have no charts, and the pasts of hundreds of GPUs are not read in vain.
  useEffect(() => (isLoaded.value && !isDense ? followTrends(range) : undefined), [range, isDense, isLoaded.value]);
  if (!isLoaded.value) return null;
  const names = [...new Set([...nodes.value.map((node) => node.name), ...gpus.value.map((gpu) => gpu.node)])];
  return html`<div class="overview">
    <h1 class="unseen">${t("view.overview")}</h1>
    ${gpuError.value && html`<p class="notice bad"><${Others} text=${gpuError.value} /></p>`}
    ${names.map((name) => html`<${NodePart} key=${name} name=${name} isDense=${isDense} range=${range} />`)}
    ${!gpus.value.length && html`<${Empty} title=${t("gpus.none")} />`}
    <${WaitingLine} />
    <${Recent} />
    <${ManagedGpu} />
  </div>`;
}

function WaitingLine() {
  const all = waiting.value.filter((job) => job.state === "queued");
  const held = waiting.value.length - all.length;
  if (!waiting.value.length) return html`<p class="waiting-line quiet">${t("waiting.none")}</p>`;
  const owners = new Set(all.map((job) => job.owner)).size;
  const soon = all
    .filter((job) => job.estimated_start)
    .sort((a, b) => (a.estimated_start ?? "").localeCompare(b.estimated_start ?? ""))[0];
  const longest = all.reduce(
    (found, job) => (!found || job.submitted_at < found.submitted_at ? job : found),
    /** @type {Job | null} */ (null),
  );
  return html`<p class="waiting-line">
    <a href="/queue?state=waiting"><b>${t("waiting")}</b> ${t("waiting.jobs", { n: all.length, jobs: whole(all.length) })}
      ${owners > 1 ? ` ${t("waiting.owners", { n: owners })}` : ""}</a>
    ${soon && html`<span>${t("waiting.next")} <a href=${`/jobs/${soon.id}`}>#${soon.id} (<${Others} text=${soon.owner} />)</a> ~${clock(soon.estimated_start ?? "")}</span>`}
    ${
      longest &&
      html`<span>${t("waiting.longest")} <a href=${`/jobs/${longest.id}`}>#${longest.id}</a>, ${duration((Date.now() - Date.parse(longest.submitted_at)) / 1000)}, ${t("needs", { n: longest.gpus_asked })}</span>`
    }
    ${held > 0 && html`<a href="/queue?state=held">${t("waiting.held", { n: held })}</a>`}
  </p>`;
}

function Recent() {
  if (!recent.value.length) {
    if (jobs.size) return null;
    return html`<${Empty} title=${t("jobs.none")}>
      <p class="command"><code>tarmac add python train.py</code><${CopyCommand} command="tarmac add python train.py" isBare /></p>
      <a class="button" href="/new">${t("new_job")}</a>
    <//>`;
  }
  return html`<section class="recent" aria-label=${t("recent")}>
    <h2>${t("recent")}</h2>
    <ul>
      ${recent.value.map(
        (job) => html`<li key=${job.id}>
          <${State} state=${job.state} />
          <${JobLink} job=${job} />
          <span class="reason cut">${reasonOf(job)}</span>
          <span class="owner quiet cut"><${Others} text=${job.owner} /></span>
          <span class="number quiet">${job.elapsed_s !== null ? duration(elapsed(job) ?? 0) : ""}</span>
          <span class="number quiet">${job.ended_at && html`<${Ago} at=${job.ended_at} />`}</span>
        </li>`,
      )}
    </ul>
  </section>`;
}
