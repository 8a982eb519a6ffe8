// How the page looks in this browser: its theme, and how dense its lists are.
import { effect, signal } from "/page/lib/signals.js";

const THEME = "tarmac.theme";
const DENSITY = "tarmac.density";

/** `light` or `dark`; empty for that of the system. */
export const theme = signal(localStorage.getItem(THEME) ?? "");
/** `dense`, or empty for rows of the usual height. */
export const density = signal(localStorage.getItem(DENSITY) ?? "");

effect(() => put("theme", theme.value));
effect(() => put("density", density.value));

/** @param {string} name @param {string} value */
function put(name, value) {
  if (value) document.documentElement.dataset[name] = value;
  else delete document.documentElement.dataset[name];
}

/** @param {string} value */
export function chooseTheme(value) {
  keep(THEME, value);
  theme.value = value;
}

/** @param {string} value */
export function chooseDensity(value) {
  keep(DENSITY, value);
  density.value = value;
}

/** @param {string} name @param {string} value */
function keep(name, value) {
  if (value) localStorage.setItem(name, value);
  else localStorage.removeItem(name);
}
