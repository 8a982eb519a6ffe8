// The time, once a second while the tab is visible.
import { signal } from "/page/lib/signals.js";

export const now = signal(Date.now());

export function startClock() {
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = Date.now();
  }, 1000);
}
