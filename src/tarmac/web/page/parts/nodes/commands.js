// What an admin can do with a node: each a request, its command, and a sentence about what was done.
import { change, post, remove as sendRemoval } from "/page/data/http.js";
import { dropNode, isAtWork, jobs, putNode } from "/page/data/store.js";
import { elapsed } from "/page/parts/bits.js";
import { confirm } from "/page/parts/dialog.js";
import { loginCommand } from "/page/parts/nodes/why.js";
import { isOn } from "/page/parts/queue/items.js";
import { go } from "/page/router/router.js";
import { duration, shellCommand, visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/nodes.js";

/**
 * @typedef {import("/page/data/types.js").Node} Node
 * @typedef {import("/page/parts/command_button.js").Outcome} Outcome
 * @typedef {{ command: string, run: () => Promise<Outcome> }} Deed
 */

/** @param {Node} node */
const path = (node) => `/nodes/${encodeURIComponent(node.name)}`;
/** @param {Node} node @param {string} verb @param {string[]} more */
const command = (node, verb, ...more) => shellCommand(["tarmac", "node", verb, node.name, ...more]);

/** @param {Node} node @param {string} reason @returns {Deed} */
export function drain(node, reason) {
  return {
    command: command(node, "drain", ...(reason ? ["--reason", reason] : [])),
    run: async () => {
      putNode(await post(`${path(node)}/drain`, { reason: reason || null }));
      const undo = async () => putNode(await post(`${path(node)}/resume`, {}));
      return { text: t("node.did_drain", { name: node.name }), undo };
    },
  };
}

/** @param {Node} node @returns {Deed} */
export function resume(node) {
  return {
    command: command(node, "resume"),
    run: async () => {
      putNode(await post(`${path(node)}/resume`, {}));
      return { text: t("node.did_resume", { name: node.name }) };
    },
  };
}

/** Start jobs there, or only show its GPUs. @param {Node} node @param {boolean} isWatched @returns {Deed} */
export function use(node, isWatched) {
  const put = async (/** @type {boolean} */ value) => putNode(await change("PATCH", path(node), { watch_only: value }));
  return {
    command: command(node, "edit", "--use", isWatched ? "watch" : "run"),
    run: async () => {
      await put(isWatched);
      return { text: t(isWatched ? "node.did_watch" : "node.did_use", { name: node.name }), undo: () => put(!isWatched) };
    },
  };
}

/** @param {Node} node @returns {Deed} */
export function tryNow(node) {
  return {
    command: loginCommand(node),
    run: async () => {
      putNode(await post(`${path(node)}/try`, {}));
      return { text: t("node.did_try", { name: node.name }) };
    },
  };
}

/** @param {Node} node @returns {Deed} */
export function remove(node) {
  const line = command(node, "rm");
  return {
    command: line,
    run: async () => {
      const title = t("node.remove_title", { name: visible(node.name) });
      const text = [t("node.remove_text"), t("node.remove_logs")];
      if (!(await confirm({ title, text, action: t("node.remove"), command: line, isDanger: true }))) return null;
      const { fetched_logs: n } = await sendRemoval(path(node));
      leave(node);
      return { text: t("node.did_remove", { name: node.name }), hint: n ? t("node.did_fetch", { n }) : null };
    },
  };
}

/** @param {Node} node @returns {Deed} */
export function forget(node) {
  const line = command(node, "forget", "--yes");
  return {
    command: line,
    run: async () => {
      const title = t("node.forget_title", { name: visible(node.name) });
      const text = [lossOf(node), t("node.forget_retried"), t("node.forget_sure")];
      if (!(await confirm({ title, text, action: t("node.forget"), command: line, isDanger: true }))) return null;
      const { unknown_jobs: lost } = await post(`${path(node)}/forget`, {});
      leave(node);
      const hint = lost.length ? t("node.did_lose", { n: lost.length, ids: lost.join(", ") }) : null;
      return { text: t("node.did_forget", { name: node.name }), hint };
    },
  };
}

/** What forgetting it means for its jobs. @param {Node} node */
function lossOf(node) {
  const own = [...jobs.values()].filter((job) => isAtWork(job) && isOn(job, node.name));
  const n = Math.max(own.length, node.running);
  const time = duration(own.reduce((sum, job) => sum + (elapsed(job) ?? 0), 0));
  return n ? t("node.forget_jobs", { n, time }) : t("node.forget_none");
}

/** @param {Node} node */
function leave(node) {
  go("/nodes");
  dropNode(node.name);
}
