// Text that was typed and not sent yet. It survives a reload, and a restart of the controller.
import { useState } from "/page/lib/preact.js";
import { signal } from "/page/lib/signals.js";

const PREFIX = "tarmac.draft.";

/** True while a text is typed that the browser cannot keep: the storage of the tab is full. */
export const isUnkept = signal(false);

/**
 * @param {string} name
 * @param {string} [initial] shown while nothing is typed
 * @returns {[string, (text: string) => void, () => void]} the text, how to change it, and how to drop it
 */
export function useDraft(name, initial = "") {
  const [draft, setDraft] = useState(() => sessionStorage.getItem(PREFIX + name));
  const change = (/** @type {string} */ next) => {
    isUnkept.value = !keep(PREFIX + name, next);
    setDraft(next);
  };
  const drop = () => {
    sessionStorage.removeItem(PREFIX + name);
    isUnkept.value = false;
    setDraft(null);
  };
  return [draft ?? initial, change, drop];
}

/** False if there is no space. An older text would be wrong, so it is removed. @param {string} key @param {string} text */
function keep(key, text) {
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    sessionStorage.removeItem(key);
    return false;
  }
}
