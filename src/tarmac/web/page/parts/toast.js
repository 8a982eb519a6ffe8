// Messages that go by themselves: what was done, with its command and, where possible, a way back.
import { html } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { CopyCommand } from "/page/parts/bits.js";
import { Icon } from "/page/parts/icons.js";
import { t } from "/page/words/words.js";

const LASTS_MS = 5000;
const LASTS_BAD_MS = 12_000;

/** @typedef {{ id: number, text: string, hint?: string | null, command?: string, undo?: () => void, isBad?: boolean }} Toast */

const toasts = signal(/** @type {Toast[]} */ ([]));
let next = 1;

/** @param {Omit<Toast, "id">} toast */
export function say(toast) {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
  setTimeout(() => drop(id), toast.isBad ? LASTS_BAD_MS : LASTS_MS);
}

/** @param {unknown} error @param {string} [command] */
export function sayRefusal(error, command) {
  const hint = /** @type {{ hint?: string | null }} */ (error).hint;
  say({ text: error instanceof Error ? error.message : String(error), hint, command, isBad: true });
}

/** @param {number} id */
function drop(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (one) => html`<div class="toast" key=${one.id} data-bad=${one.isBad}>
        <div>
          <p>${one.text}</p>
          ${one.hint && html`<p class="quiet">${one.hint}</p>`}
          ${one.command && html`<code>${one.command}</code>`}
        </div>
        ${
          one.undo &&
          html`<button type="button" class="button" onClick=${() => (drop(one.id), one.undo?.())}>${t("undo")}</button>`
        }
        ${one.command && html`<${CopyCommand} command=${one.command} isBare />`}
        <button type="button" class="button bare" aria-label=${t("close")} onClick=${() => drop(one.id)}>
          <${Icon} name="close" />
        </button>
      </div>`,
    )}
  </div>`;
}
