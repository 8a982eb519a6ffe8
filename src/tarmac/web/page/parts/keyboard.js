// Keys that work in every view. Views add their own.
import { areKeysShown } from "/page/parts/dialog.js";
import { searchBox } from "/page/parts/shell.js";
import { go } from "/page/router/router.js";

/** After `g`. @type {Record<string, string>} */
const PLACES = {
  o: "/",
  q: "/queue",
  h: "/history",
  r: "/reports",
  n: "/nodes",
  c: "/reserve",
  s: "/settings",
  a: "/admin",
};

let isGoing = false;

/** True if a key belongs to what has the focus, not to the page. @param {KeyboardEvent} event */
export function isTyping(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const isField = target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  return isField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null;
}

export function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (isTyping(event)) return;
    if (isGoing && event.key in PLACES) {
      isGoing = false;
      go(PLACES[event.key]);
      return;
    }
    isGoing = event.key === "g";
    if (event.key === "?") areKeysShown.value = true;
    if (event.key === "n") {
      event.preventDefault(); // the letter would be typed into the form
      go("/new");
    }
    if (event.key === "/") {
      event.preventDefault();
      const own = /** @type {HTMLElement | null} */ (document.querySelector("main [data-search]"));
      (own ?? searchBox.current)?.focus();
    }
  });
}
