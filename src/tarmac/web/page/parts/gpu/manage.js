// The way from a tile to what an admin can do with its GPU. The dialog is read when it is first opened.
import { later } from "/page/lib/later.js";
import { html, useEffect, useState } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { gpus } from "/page/data/store.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

/** UUID of the GPU whose dialog is open. */
const managed = signal("");

/** @param {{ gpu: import("/page/data/types.js").Gpu, name: string }} props */
export function ManageButton({ gpu, name }) {
  const label = t("gpu.manage", { name });
  return html`<button type="button" class="manage" aria-haspopup="dialog" aria-label=${label} title=${label}
    onClick=${() => (managed.value = gpu.uuid)}><${Icon} name="more" /></button>`;
}

export function ManagedGpu() {
  const [Part, setPart] = useState(/** @type {any} */ (null));
  const gpu = gpus.value.find((one) => one.uuid === managed.value);
  useEffect(() => {
    if (gpu && !Part) void later(() => import("/page/parts/admin/gpu_dialog.js")).then((module) => setPart(() => module.GpuDialog));
  }, [gpu !== undefined]);
  useEffect(() => () => void (managed.value = ""), []);
  return gpu && Part && html`<${Part} gpu=${gpu} onClose=${() => (managed.value = "")} />`;
}
