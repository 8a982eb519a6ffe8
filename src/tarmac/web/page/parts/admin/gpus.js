// Every GPU with its slots, whether it is drained and why; and the processes that do not count.
import { html } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { useReading } from "/page/data/reading.js";
import { gpus, jobsOnGpus, nodes } from "/page/data/store.js";
import { Ago, Empty, Others } from "/page/parts/bits.js";
import { CommandButton, perform } from "/page/parts/command_button.js";
import { drain, forget, gpuName, ignore, resume, setSlots } from "/page/parts/admin/gpu_commands.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {import("/page/data/types.js").Gpu} Gpu
 * @typedef {{ program: string | null, pid: number | null, node: string | null, origin: string, off: boolean }} Ignored
 */

export function Gpus() {
  const sorted = [...gpus.value].sort(
    (a, b) => a.node.localeCompare(b.node) || (a.index ?? 1e6) - (b.index ?? 1e6),
  );
  return html`<section class="panel" aria-label=${t("admin.gpus")}>
      <h2>${t("admin.gpus")}</h2>
      <p class="quiet">${t("gpus.about")}</p>
      ${!sorted.length && html`<${Empty} title=${t("gpus.none")} />`}
      ${sorted.length > 0 && html`<ul class="rows-of-gpus">${sorted.map((gpu) => html`<${GpuRow} key=${gpu.uuid} gpu=${gpu} />`)}</ul>`}
    </section>
    <${IgnoredPart} />`;
}

/** @param {Gpu} gpu */
function stateOf(gpu) {
  if (gpu.gone_since) return html`<span class="bad">${t("gpu.gone")} <${Ago} at=${gpu.gone_since} /></span>`;
  if (gpu.drained) {
    const why = gpu.reason ?? gpu.health ?? "";
    return html`<span class="drained">${t("gpu.drained")}${why && ": "}<${Others} text=${why} /></span>
      <span class="quiet"> ${gpu.drained_by ?? "Tarmac"}</span>`;
  }
  const jobs = jobsOnGpus.value.get(gpu.uuid) ?? [];
  if (jobs.length) return jobs.map((id) => html`<a href=${`/jobs/${id}`}>#${id}</a> `);
  return html`<span class="quiet">${t(gpu.held ? "gpu.foreign" : "gpu.free")}</span>`;
}

/** @param {{ gpu: Gpu }} props */
function GpuRow({ gpu }) {
  const [reason, setReason, dropReason] = useDraft(`drain.${gpu.uuid}`);
  const [slots, setSlotsText, dropSlots] = useDraft(`slots.${gpu.uuid}`, String(gpu.slots));
  const name = gpuName(gpu);
  const drained = drain(gpu, reason.trim());
  const onDrain = { ...drained, run: () => drained.run().then((done) => (dropReason(), done)) };
  const wanted = setSlots(gpu, slots);
  const shared = { ...wanted, run: () => wanted.run().then((done) => (dropSlots(), done)) };
  const onSlots = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (slots !== String(gpu.slots)) void perform(shared.command, shared.run);
  };
  return html`<li class="gpu-row" aria-label=${t("gpu", { name })}>
    <b class="gpu-name">${nodes.value.length > 1 ? name : t("gpu", { name })}</b>
    <span class="gpu-model quiet cut">${gpu.model}</span>
    <span class="gpu-state">${stateOf(gpu)}</span>
    <form class="gpu-slots" onSubmit=${onSlots}>
      <label>${t("gpu.slots")} <input class="field narrow" inputmode="numeric" value=${slots} onInput=${(/** @type {any} */ event) => setSlotsText(event.target.value)} /></label>
      ${slots !== String(gpu.slots) && html`<${CommandButton} label=${t("save")} ...${shared} />`}
    </form>
    <span class="gpu-deeds">
      ${
        gpu.drained
          ? html`<${CommandButton} label=${t("gpu.resume")} ...${resume(gpu)} />`
          : html`<input class="field" aria-label=${t("gpu.drain_reason", { name })} placeholder=${t("reason")} value=${reason}
              maxlength="1000" onInput=${(/** @type {any} */ event) => setReason(event.target.value)} />
            <${CommandButton} label=${t("gpu.drain")} ...${onDrain} />`
      }
      ${gpu.gone_since && html`<${CommandButton} label=${t("gpu.forget")} ...${forget(gpu)} />`}
    </span>
  </li>`;
}

function IgnoredPart() {
  const list = /** @type {import("/page/data/reading.js").Reading<{ ignored: Ignored[] }>} */ (useReading("/gpus/ignore"));
  const [program, setProgram, drop] = useDraft("ignore");
  /** @param {import("/page/parts/admin/gpu_commands.js").Deed} deed */
  const then = (deed) => ({ ...deed, run: () => deed.run().then((done) => (list.again(), done)) });
  const added = ignore({ program: program.trim() });
  const known = new Set((list.value?.ignored ?? []).map((one) => one.pid));
  const foreign = gpus.value.flatMap((gpu) =>
    gpu.processes.filter((one) => one.job === null && !one.ignored && !known.has(one.pid)).map((one) => ({ ...one, gpu })),
  );
  return html`<section class="panel" aria-label=${t("ignored.title")}>
    <h2>${t("ignored.title")}</h2>
    <p class="quiet">${t("ignored.about")}</p>
    ${list.problem && html`<p class="problem" role="alert">${list.problem}</p>`}
    <ul class="plain-rows">
      ${list.value?.ignored.map((one) => html`<${IgnoredRow} key=${`${one.node}.${one.pid ?? one.program}`} one=${one} then=${then} />`)}
      ${foreign.map(
        (one) => html`<li key=${`${one.gpu.uuid}.${one.pid}`}>
          <span class="what mono"><${Others} text=${`${one.pid} ${one.user ?? ""} ${one.command ?? ""}`} /></span>
          <span class="quiet">${t("ignored.holds", { name: gpuName(one.gpu) })}</span>
          <${CommandButton} label=${t("ignored.ignore")} ...${then(ignore({ pid: one.pid, node: one.gpu.node }))} />
        </li>`,
      )}
    </ul>
    <div class="inline-form">
      <label>${t("ignored.program")} <input class="field" value=${program} placeholder="sunshine" onInput=${(/** @type {any} */ event) => setProgram(event.target.value)} /></label>
      <${CommandButton} label=${t("ignored.ignore")} isOff=${!program.trim()} ...${then(added)}
        run=${() => added.run().then((done) => (list.again(), drop(), done))} />
    </div>
  </section>`;
}

/** @param {{ one: Ignored, then: (deed: import("/page/parts/admin/gpu_commands.js").Deed) => any }} props */
function IgnoredRow({ one, then }) {
  const what = one.pid === null ? (one.program ?? "") : String(one.pid);
  const isOurs = one.origin === "user";
  const how = one.off || isOurs ? "forget" : "off";
  const label = t(one.off ? "ignored.ignore" : "ignored.count");
  return html`<li>
    <span class="what mono ${one.off ? "struck" : ""}"><${Others} text=${what} /></span>
    <span class="quiet">${one.pid !== null && t("ignored.until_it_ends")} ${t(one.off ? "ignored.off" : `ignored.${one.origin}`)}</span>
    <${CommandButton} label=${label} ...${then(ignore(one, how))} />
  </li>`;
}
