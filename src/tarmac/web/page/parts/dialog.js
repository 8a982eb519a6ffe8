// Dialogs: questions before something that cannot be undone, and the list of keys.
import { html, useEffect, useRef } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";
import { CopyCommand } from "/page/parts/bits.js";
import { t } from "/page/words/words.js";

/**
 * @typedef {{ title: string, text: string[], action: string, command: string, isDanger?: boolean }} Question
 */

const asked = signal(/** @type {(Question & { answer: (yes: boolean) => void }) | null} */ (null));

/** Ask before doing it. @param {Question} question @returns {Promise<boolean>} */
export function confirm(question) {
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** @param {{ title: string, onClose: () => void, children?: unknown }} props */
export function Dialog({ title, onClose, children }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    ref.current?.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  const onCancel = (/** @type {Event} */ event) => (event.preventDefault(), onClose());
  const onClick = (/** @type {Event} */ event) => event.target === ref.current && onClose();
  return html`<dialog ref=${ref} class="dialog" aria-label=${title} onCancel=${onCancel} onClick=${onClick}>
    <div class="dialog-body"><h2>${title}</h2>${children}</div>
  </dialog>`;
}

export function Confirmation() {
  const question = asked.value;
  if (!question) return null;
  return html`<${Dialog} title=${question.title} onClose=${() => question.answer(false)}>
    ${question.text.map((line) => html`<p>${line}</p>`)}
    <p class="command"><code>${question.command}</code><${CopyCommand} command=${question.command} isBare /></p>
    <div class="buttons">
      <button type="button" class="button" autofocus=${question.isDanger} onClick=${() => question.answer(false)}>${t("cancel")}</button>
      <button type="button" class="button first ${question.isDanger ? "danger" : ""}" autofocus=${!question.isDanger}
        onClick=${() => question.answer(true)}>${question.action}</button>
    </div>
  <//>`;
}

export const areKeysShown = signal(false);

const KEYS = [
  ["/", "keys.search"],
  ["j k", "keys.move"],
  ["Enter", "keys.open"],
  ["x", "keys.select"],
  ["Alt ↑ ↓", "keys.reorder"],
  ["Esc", "keys.clear"],
  ["g o", "keys.overview"],
  ["g q", "keys.queue"],
  ["g h", "keys.history"],
  ["g r", "keys.reports"],
  ["g n", "keys.nodes"],
  ["g c", "keys.reserve"],
  ["g s", "keys.settings"],
  ["g a", "keys.admin"],
  ["n", "keys.new"],
  ["?", "keys.help"],
];

export function Keys() {
  if (!areKeysShown.value) return null;
  const close = () => (areKeysShown.value = false);
  return html`<${Dialog} title=${t("keys.title")} onClose=${close}>
    <dl class="keys">${KEYS.map(([keys, word]) => html`<dt><kbd>${keys}</kbd></dt><dd>${t(word)}</dd>`)}</dl>
    <div class="buttons"><button type="button" class="button" onClick=${close}>${t("close")}</button></div>
  <//>`;
}
