// What an admin can do with one GPU, as a dialog above the overview.
import { html } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";
import { CommandButton } from "/page/parts/command_button.js";
import { Dialog } from "/page/parts/dialog.js";
import { Others } from "/page/parts/bits.js";
import { drain, forget, gpuName, ignore, resume } from "/page/parts/admin/gpu_commands.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Gpu} Gpu */

/** @param {{ gpu: Gpu, onClose: () => void }} props */
export function GpuDialog({ gpu, onClose }) {
  const foreign = gpu.processes.filter((one) => one.job === null && !one.ignored);
  return html`<${Dialog} title=${t("gpu", { name: gpuName(gpu) })} onClose=${onClose}>
    <p class="quiet">${gpu.model}</p>
    ${gpu.drained ? html`<${Drained} gpu=${gpu} onDone=${onClose} />` : html`<${Drain} gpu=${gpu} onDone=${onClose} />`}
    ${gpu.gone_since && html`<div><${CommandButton} label=${t("gpu.forget")} ...${then(forget(gpu), onClose)} /></div>`}
    ${foreign.map(
      (one) => html`<p class="line" key=${one.pid}><span class="mono"><${Others} text=${`${one.pid} ${one.user ?? ""} ${one.command ?? ""}`} /></span>
        <${CommandButton} label=${t("ignored.ignore")} ...${ignore({ pid: one.pid, node: gpu.node })} /></p>`,
    )}
    <div class="buttons">
      <a class="button bare" href="/admin?tab=gpus">${t("gpu.all")}</a>
      <button type="button" class="button" onClick=${onClose}>${t("close")}</button>
    </div>
  <//>`;
}

/** Close the dialog once it is done. @param {import("/page/parts/admin/gpu_commands.js").Deed} deed @param {() => void} close */
function then(deed, close) {
  const run = async () => {
    const done = await deed.run();
    close();
    return done;
  };
  return { ...deed, run };
}

/** @param {{ gpu: Gpu, onDone: () => void }} props */
function Drain({ gpu, onDone }) {
  const [reason, setReason, drop] = useDraft(`drain.${gpu.uuid}`);
  const done = () => (drop(), onDone());
  return html`<p>${t("gpu.drain_means")}</p>
    <label class="stacked">${t("reason")}
      <input class="field" autofocus value=${reason} maxlength="1000" onInput=${(/** @type {any} */ event) => setReason(event.target.value)} />
    </label>
    <div><${CommandButton} label=${t("gpu.drain")} isFirst ...${then(drain(gpu, reason.trim()), done)} /></div>`;
}

/** @param {{ gpu: Gpu, onDone: () => void }} props */
function Drained({ gpu, onDone }) {
  return html`<p>${t("gpu.drained_by", { by: gpu.drained_by ?? "Tarmac" })} <${Others} text=${gpu.reason ?? gpu.health ?? ""} /></p>
    <div><${CommandButton} label=${t("gpu.resume")} isFirst ...${then(resume(gpu), onDone)} /></div>`;
}
