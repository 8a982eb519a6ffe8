// One job: what matters first, then its log, its facts, its attempts and what happened to it.
import { html, useEffect, useState } from "/page/lib/preact.js";
import { useSignalEffect } from "/page/lib/signals.js";
import { get } from "/page/data/http.js";
import { isAtWork, isEnded, jobs, jobsVersion, removeJobs } from "/page/data/store.js";
import { cutSince } from "/page/data/stream.js";
import { ActionButton, ACTIONS, FormLinks, rerun } from "/page/parts/job/actions.js";
import { CopyCommand, elapsed, Empty, Others, Progress, timeLeft } from "/page/parts/bits.js";
import { Attempts, Environment, Facts, Timeline } from "/page/parts/job/facts.js";
import { Code } from "/page/parts/job/code.js";
import { More } from "/page/parts/job/more.js";
import { mayChange } from "/page/parts/job/rights.js";
import { Charts } from "/page/parts/job/charts.js";
import { gpusOf, nameOf, reasonOf } from "/page/parts/job/names.js";
import { Log } from "/page/parts/job/log.js";
import { State } from "/page/parts/state.js";
import { query } from "/page/router/router.js";
import { clock, commandText, duration, percent, relative, visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/job.js";

/** @typedef {import("/page/parts/job/facts.js").WholeJob} WholeJob */

/** The job with all its fields, read again when the event stream says that it changed. @param {number} id */
function useJob(id) {
  const [whole, setWhole] = useState(/** @type {WholeJob | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Error | null} */ (null));
  const [turn, setTurn] = useState("");
  useSignalEffect(() => {
    jobsVersion.value;
    const job = jobs.get(id);
    setTurn(`${job?.changes} ${job?.position} ${job?.estimated_start} ${cutSince.value !== null}`);
  });
  useEffect(() => {
    const ending = new AbortController();
    get(`/jobs/${id}`, {}, ending.signal).then(
      (job) => (setWhole({ ...job, readAt: Date.now() }), setProblem(null)),
      (error) => {
        if (ending.signal.aborted || !error.status) return;
        if (error.status === 404) removeJobs([id]);
        setProblem(error);
      },
    );
    return () => ending.abort();
  }, [id, turn]);
  jobsVersion.value;
  const live = jobs.get(id);
  if (!whole) return { job: null, problem };
  const isNewer = live && (live.readAt ?? 0) > (whole.readAt ?? 0);
  return { job: isNewer ? /** @type {WholeJob} */ ({ ...whole, ...live }) : whole, problem };
}

/** @param {{ word: string }} props its number */
export function JobView({ word }) {
  const id = Number(word);
  const { job, problem } = useJob(id);
  useEffect(() => {
    document.title = job ? `#${job.id} ${visible(nameOf(job))} · Tarmac` : "Tarmac";
    return () => void (document.title = "Tarmac");
  }, [job?.id, job?.name]);
  if (problem && (!job || !jobs.has(id)))
    return html`<${Empty} title=${problem.message}><a class="button" href="/queue">${t("view.queue")}</a><//>`;
  if (!job) return null;
  const attempt = Number(query.value.get("attempt")) || null;
  const hasLog = job.attempt > 0 && !job.adopted;
  return html`<div class="job">
    <header class="job-head">
      <p class="crumbs quiet"><a href="/queue">${t("view.queue")}</a> / #${job.id}
        ${job.group !== null && html` / <a href=${`/queue?state=all&open=${job.group}`}>${t("group", { id: job.group })}</a>`}</p>
      <h1><${State} state=${job.state} /> <span class="job-name"><${Others} text=${nameOf(job) || commandText(job.command)} /></span></h1>
      <${Headline} job=${job} />
      <${Buttons} job=${job} />
    </header>
    <div class="job-log">${hasLog ? html`<${Log} key=${`${attempt ?? job.attempt}`} job=${job} attempt=${attempt} /><${Charts} key=${`c${attempt ?? job.attempt}`} job=${job} attempt=${attempt ?? job.attempt} />` : html`<${Why} job=${job} />`}</div>
    <div class="job-facts">
      <${Facts} job=${job} />
      <${Attempts} job=${job} chosen=${attempt} />
      <${Code} job=${job} />
      <${Timeline} id=${id} turn=${`${job.state} ${job.attempt} ${job.name} ${job.tags} ${job.note}`} />
      <${Environment} id=${id} />
    </div>
  </div>`;
}

/** The sentence that answers what a user opens the page for. @param {{ job: WholeJob }} props */
function Headline({ job }) {
  return html`<div class="headline">
    <p>${sentence(job)}</p>
    ${job.error_line && job.state === "failed" && html`<p class="error-line mono"><${Others} text=${job.error_line} /></p>`}
    ${job.message && html`<p class=${job.message.startsWith("/") ? "as-is" : ""}><${Others} text=${job.message} /></p>`}
    ${job.hint && html`<p class="quiet"><${Others} text=${job.hint} /></p>`}
    ${job.warnings.map((text) => html`<p class="warning"><${Others} text=${text} /></p>`)}
    ${job.stale_reason && html`<p class="warning"><${Others} text=${job.stale_reason} /></p>`}
    <${Progress} job=${job} />
  </div>`;
}

/** @param {WholeJob} job */
function sentence(job) {
  const time = duration(elapsed(job) ?? 0);
  const ago = job.ended_at ? relative(job.ended_at) : "";
  switch (job.state) {
    case "running": {
      const left = timeLeft(job);
      const on = job.gpus.length ? t("said.on", { n: job.gpus.length, gpus: gpusOf(job) }) : t("said.no_gpu");
      const rest = left === null ? "" : ` · ${t("left", { time: duration(left) })}`;
      return `${t("said.running", { time })} ${on}${job.progress ? ` · ${percent(job.progress.fraction)}` : ""}${rest}`;
    }
    case "paused":
      return t("said.paused", { time, by: job.paused_by ?? "", since: job.paused_at ? relative(job.paused_at) : "" });
    case "queued":
      return job.estimated_start ? t("said.starts", { at: clock(job.estimated_start) }) : t("said.queued");
    case "held":
      return job.held_by ? t("said.held_by", { by: job.held_by }) : t("said.held");
    case "succeeded":
      return t("said.succeeded", { time, ago });
    case "failed":
      return job.started_at
        ? t("said.failed", { time, ago, reason: reasonOf(job) })
        : t("said.never_ran", { ago, reason: reasonOf(job) });
    case "cancelled":
      return job.started_at ? t("said.cancelled", { time, ago }) : t("said.cancelled_waiting", { ago });
    default:
      return t(`said.${job.state}`);
  }
}

/** @param {{ job: WholeJob }} props */
function Buttons({ job }) {
  const fitting = ["retry", "release", "resume", "pause", "hold", "kill"].filter((name) => ACTIONS[name].applies(job));
  const isShared = job.gpu_memory_bytes !== null || job.gpu_share !== null;
  return html`<div class="job-buttons" role="toolbar" aria-label=${t("actions")}>
    ${fitting.map((name, i) => html`<${ActionButton} key=${name} action=${ACTIONS[name]} jobs=${[job]} isFirst=${i === 0 && name !== "kill" && isEnded(job)} />`)}
    ${
      job.reason === "oom-gpu" &&
      isShared &&
      html`<button type="button" class="button" disabled=${!mayChange(job)} onClick=${() => rerun(job, { gpu_memory_bytes: null, gpu_share: null })}>${t("do.whole_gpu")}</button>`
    }
    ${
      isEnded(job) &&
      html`<span class="split"><button type="button" class="button" disabled=${!mayChange(job)} title=${mayChange(job) ? undefined : t("not_yours", { owner: job.owner })}
        onClick=${() => rerun(job)}>${t("do.rerun")}</button>
      <${CopyCommand} command=${`tarmac rerun ${job.id}`} /></span>`
    }
    <${FormLinks} job=${job} />
    <${More} job=${job} />
  </div>`;
}

/** Instead of a log, before the first start. @param {{ job: WholeJob }} props */
function Why({ job }) {
  const [lines, setLines] = useState(/** @type {string[]} */ (job.why));
  const isDone = isEnded(job) || isAtWork(job);
  useEffect(() => {
    if (isDone) return;
    get(`/jobs/${job.id}/why`).then(
      (why) => setLines(why.lines.slice(1)),
      () => undefined,
    );
  }, [job.id, job.state, job.estimated_start, job.position]);
  return html`<section class="why" aria-label=${t("why")}>
    <h2>${isDone ? t("log.none") : t("why")}</h2>
    ${!isDone && lines.map((line) => html`<p><${Others} text=${line} /></p>`)}
  </section>`;
}
