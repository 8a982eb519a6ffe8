// How much of a node is in use, as the list and its page show it.
import { html } from "/page/lib/preact.js";
import { gpus, jobsOnGpus } from "/page/data/store.js";
import { Meter } from "/page/parts/bits.js";
import { gigabytes } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/data/types.js").Node} Node */

/** `3/8`: GPUs with jobs or foreign processes, of all; a dash if nobody knows. @param {Node} node */
export function gpusInUse(node) {
  const own = gpus.value.filter((gpu) => gpu.node === node.name);
  const busy = own.filter((gpu) => jobsOnGpus.value.has(gpu.uuid) || gpu.held).length;
  const total = Math.max(own.length, node.gpus);
  return total || node.connected ? `${busy}/${total}` : "–";
}

/** @param {{ node: Node }} props */
export function HostMemory({ node }) {
  const { memory_total_bytes: total, memory_available_bytes: available } = node;
  if (!total) return html`<span class="quiet">–</span>`;
  if (available === null) return html`<span class="quiet">${gigabytes(total, true)} GB</span>`;
  return html`<span class="host-memory"><${Meter} label=${t("node.memory")} fraction=${1 - available / total} />
    <span class="number">${gigabytes(total - available)} / ${gigabytes(total, true)} GB</span></span>`;
}
