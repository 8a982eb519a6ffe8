// The queue as a whole: pause, drain, resume and stop it; the notice to all users; users who are suspended.
import { html } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { post, put, remove } from "/page/data/http.js";
import { isAtWork, jobs, jobsVersion, queue } from "/page/data/store.js";
import { Ago, elapsed, Others } from "/page/parts/bits.js";
import { CommandButton } from "/page/parts/command_button.js";
import { confirm } from "/page/parts/dialog.js";
import { duration, shellCommand, whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Queue} Queue */

export function QueueControls() {
  if (!queue.value) return null;
  return html`<${Mode} state=${queue.value} /><${NoticePart} state=${queue.value} />
    ${queue.value.suspended.length > 0 && html`<${Suspended} state=${queue.value} />`}`;
}

/** @param {Queue} state */
function modeOf(state) {
  if (state.paused && state.draining) return "both";
  if (state.paused) return "paused";
  return state.draining ? "draining" : "open";
}

/** True if a resume would end one mode and nothing else. @param {Queue} state */
const isAlone = (state) => state.paused !== state.draining && state.suspended.length === 0;

/** @param {{ state: Queue }} props */
function Mode({ state }) {
  const [reason, setReason, drop] = useDraft("queue.reason");
  const given = reason.trim();
  const asked = { reason: given || null };
  const more = given ? ["--reason", given] : [];
  /** @param {"pause" | "drain"} how */
  const put = (how) => async () => {
    const now = await post(`/queue/${how}`, asked);
    queue.value = now;
    drop();
    return { text: t(`queue.did_${how}`), undo: isAlone(now) ? resume : undefined };
  };
  const resume = async () => {
    queue.value = await post("/queue/resume", {});
    return { text: t("queue.did_resume") };
  };
  return html`<section class="panel" aria-label=${t("admin.queue")}>
    <h2>${t("admin.queue")}</h2>
    <p class="mode" data-mode=${modeOf(state)}><b>${t(`queue.is_${modeOf(state)}`)}</b>
      ${state.reason && html` <${Others} text=${state.reason} />`}
      ${state.by && html` <span class="quiet">${state.by} ${state.since && html`<${Ago} at=${state.since} />`}</span>`}</p>
    <p class="quiet">${t("queue.counts", { running: whole(state.running), queued: whole(state.queued) })}</p>
    <label class="stacked"><span>${t("reason")} <span class="quiet">${t("reason.hint")}</span></span>
      <input class="field" value=${reason} maxlength="1000" onInput=${(/** @type {any} */ event) => setReason(event.target.value)} />
    </label>
    <dl class="deeds">
      ${!state.paused && html`<dt><${CommandButton} label=${t("queue.pause")} command=${shellCommand(["tarmac", "queue", "pause", ...more])} run=${put("pause")} /></dt>
        <dd>${t("queue.pause_means")}</dd>`}
      ${!state.draining && html`<dt><${CommandButton} label=${t("queue.drain")} command=${shellCommand(["tarmac", "queue", "drain", ...more])} run=${put("drain")} /></dt>
        <dd>${t("queue.drain_means")}</dd>`}
      ${(state.paused || state.draining) && html`<dt><${CommandButton} label=${t("queue.resume")} command="tarmac queue resume" run=${resume} isFirst /></dt>
        <dd>${t("queue.resume_means")}</dd>`}
      <dt><${StopButton} /></dt><dd>${t("queue.stop_means")}</dd>
    </dl>
  </section>`;
}

const STOP = "tarmac queue stop --requeue";

function StopButton() {
  jobsVersion.value;
  const stop = async () => {
    const atWork = [...jobs.values()].filter(isAtWork);
    const time = duration(atWork.reduce((sum, job) => sum + (elapsed(job) ?? 0), 0));
    const owners = new Set(atWork.map((job) => job.owner)).size;
    const text = atWork.length
      ? [t("queue.stop_ran", { n: atWork.length, time }), t("queue.stop_owners", { n: owners }), t("queue.stop_then")]
      : [t("queue.stop_nothing"), t("queue.stop_then")];
    if (!(await confirm({ title: t("queue.stop_title"), text, action: t("queue.stop"), command: STOP, isDanger: true }))) return null;
    const { stopping } = await post("/queue/stop", { requeue: true });
    return { text: t("queue.did_stop", { n: stopping.length }) };
  };
  return html`<${CommandButton} label=${t("queue.stop")} command=${STOP} run=${stop} isDanger />`;
}

/** @param {{ state: Queue }} props */
function NoticePart({ state }) {
  const [text, setText, drop] = useDraft("notice", state.notice?.text ?? "");
  const set = async () => {
    const { notice } = await put("/notice", { text });
    if (queue.value) queue.value = { ...queue.value, notice };
    drop();
    return { text: t("notice.did_set") };
  };
  const clear = async () => {
    await remove("/notice");
    if (queue.value) queue.value = { ...queue.value, notice: null };
    drop();
    return { text: t("notice.did_clear"), undo: async () => put("/notice", { text: state.notice?.text }) };
  };
  return html`<section class="panel" aria-label=${t("notice.title")}>
    <h2>${t("notice.title")}</h2>
    <p class="quiet">${t("notice.about")}</p>
    ${state.notice && html`<p><q><${Others} text=${state.notice.text} /></q> <span class="quiet"><${Others} text=${state.notice.by} /> <${Ago} at=${state.notice.at} /></span></p>`}
    <label class="stacked">${t("notice.text")}
      <textarea class="field" rows="2" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    </label>
    <div class="buttons-left">
      <${CommandButton} label=${t("notice.set")} isFirst isOff=${!text.trim() || text === state.notice?.text} command=${shellCommand(["tarmac", "notice", text.trim()])} run=${set} />
      ${state.notice && html`<${CommandButton} label=${t("notice.clear")} command="tarmac notice --clear" run=${clear} />`}
    </div>
  </section>`;
}

/** @param {{ state: Queue }} props */
function Suspended({ state }) {
  return html`<section class="panel" aria-label=${t("suspended.title")}>
    <h2>${t("suspended.title")}</h2>
    <ul class="plain-rows">${state.suspended.map(
      ({ owner, reason, since }) => html`<li key=${owner}>
        <span class="what"><${Others} text=${owner} /></span>
        <span><${Others} text=${reason} /> <span class="quiet"><${Ago} at=${since} /></span></span>
        <${CommandButton} label=${t("queue.resume")} command=${shellCommand(["tarmac", "queue", "resume", "--owner", owner])}
          run=${async () => {
            queue.value = await post("/queue/resume", { owner });
            return { text: t("suspended.did_resume", { owner }) };
          }} />
      </li>`,
    )}</ul>
  </section>`;
}
