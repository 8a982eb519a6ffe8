// What an admin can do with a GPU: each a request, its command, and a sentence about what was done.
import { post } from "/page/data/http.js";
import { nodes } from "/page/data/store.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/admin.js";

/**
 * @typedef {import("/page/data/types.js").Gpu} Gpu
 * @typedef {import("/page/parts/command_button.js").Outcome} Outcome
 * @typedef {{ command: string, run: () => Promise<Outcome> }} Deed
 */

/** As the command line takes it: its index, with its node if there are several. @param {Gpu} gpu */
export function gpuName(gpu) {
  if (gpu.index === null) return gpu.uuid;
  return nodes.value.length > 1 ? `${gpu.node}:${gpu.index}` : String(gpu.index);
}

/** @param {Gpu} gpu @param {string} reason @returns {Deed} */
export function drain(gpu, reason) {
  const name = gpuName(gpu);
  return {
    command: shellCommand(["tarmac", "gpu", "drain", name, ...(reason ? ["--reason", reason] : [])]),
    run: async () => {
      await post("/gpus/drain", { gpus: [gpu.uuid], reason: reason || null });
      return { text: t("gpu.did_drain", { name }), undo: () => post("/gpus/resume", { gpus: [gpu.uuid] }) };
    },
  };
}

/** @param {Gpu} gpu @returns {Deed} */
export function resume(gpu) {
  const name = gpuName(gpu);
  return {
    command: `tarmac gpu resume ${name}`,
    run: async () => {
      await post("/gpus/resume", { gpus: [gpu.uuid] });
      return { text: t("gpu.did_resume", { name }) };
    },
  };
}

/** @param {Gpu} gpu @returns {Deed} */
export function forget(gpu) {
  const name = gpuName(gpu);
  return {
    command: `tarmac gpu forget ${name}`,
    run: async () => {
      await post("/gpus/forget", { gpus: [gpu.uuid] });
      return { text: t("gpu.did_forget", { name }) };
    },
  };
}

/** @param {Gpu} gpu @param {string} slots @returns {Deed} */
export function setSlots(gpu, slots) {
  const name = gpuName(gpu);
  const before = gpu.slots;
  return {
    command: shellCommand(["tarmac", "gpu", "slots", name, slots]),
    run: async () => {
      await post("/gpus/slots", { gpus: [gpu.uuid], slots });
      const undo = () => post("/gpus/slots", { gpus: [gpu.uuid], slots: before });
      return { text: t("gpu.did_slots", { name, slots }), undo };
    },
  };
}

/**
 * @param {{ pid?: number | null, program?: string | null, node?: string | null }} which
 * @param {"" | "forget" | "off"} [how]
 * @returns {Deed}
 */
export function ignore({ pid, program, node }, how = "") {
  const what = pid ? String(pid) : (program ?? "");
  const where = pid && node && nodes.value.length > 1 ? ["--node", node] : [];
  const body = pid ? { pid, ...(node && { node }) } : { command: program };
  return {
    command: shellCommand(["tarmac", "gpu", "ignore-process", what, ...where, ...(how ? [`--${how}`] : [])]),
    run: async () => {
      await post("/gpus/ignore", { ...body, ...(how && { [how]: true }) });
      return { text: t(how ? "ignored.did_count" : "ignored.did_ignore", { what }) };
    },
  };
}
