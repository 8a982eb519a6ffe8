// The terminal of the job page. Large, so that only that page imports it.
export { Terminal } from "/packages/@xterm/xterm/lib/xterm.mjs";
export { FitAddon } from "/packages/@xterm/addon-fit/lib/addon-fit.mjs";
export { SearchAddon } from "/packages/@xterm/addon-search/lib/addon-search.mjs";

export const STYLE = "/packages/@xterm/xterm/css/xterm.css";
