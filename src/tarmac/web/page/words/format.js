// Numbers, sizes, durations and times as the page writes them, and text of others made visible.
import { now } from "/page/data/clock.js";
import { locale, t } from "/page/words/words.js";

const GIB = 2 ** 30;

/** `44s`, `12m30s`, `2h05m`, `3d04h`. @param {number} seconds */
export function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  if (s < 86_400) return `${Math.floor(s / 3600)}h${two(Math.floor((s % 3600) / 60))}m`;
  return `${Math.floor(s / 86_400)}d${two(Math.floor((s % 86_400) / 3600))}h`;
}

/** `18.0` for 18 GB; whole numbers if `isWhole`. @param {number} bytes */
export function gigabytes(bytes, isWhole = false) {
  const value = bytes / GIB;
  return isWhole && Math.abs(value - Math.round(value)) < 0.05 ? String(Math.round(value)) : value.toFixed(1);
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 2 ** 20) return `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KB`;
  if (bytes < GIB) return `${(bytes / 2 ** 20).toFixed(0)} MB`;
  return `${gigabytes(bytes, true)} GB`;
}

/** @param {number} fraction */
export const percent = (fraction) => `${Math.floor(fraction * 100)} %`;

/** @param {number} n */
export const whole = (n) => n.toLocaleString(locale.value);

/** "3 min ago", or "in 3 min". @param {string} iso */
export function relative(iso) {
  const seconds = (now.value - Date.parse(iso)) / 1000;
  if (Math.abs(seconds) < 5) return t("time.now");
  return t(seconds > 0 ? "time.ago" : "time.in", { time: roughly(Math.abs(seconds)) });
}

/** @param {number} seconds */
function roughly(seconds) {
  if (seconds < 60) return t("time.s", { n: Math.floor(seconds) });
  if (seconds < 3600) return t("time.min", { n: Math.floor(seconds / 60) });
  if (seconds < 86_400) return t("time.h", { n: Math.floor(seconds / 3600) });
  return t("time.d", { n: Math.floor(seconds / 86_400) });
}

/** @param {string | number} when */
export function exact(when) {
  return new Date(when).toLocaleString(locale.value, { dateStyle: "medium", timeStyle: "medium" });
}

/** `Tue 17 Nov`, or `17 Nov` in short. @param {string} day as 2026-11-17 */
export function dayText(day, isShort = false) {
  const date = new Date(`${day}T12:00:00`);
  return date.toLocaleDateString(locale.value, { weekday: isShort ? undefined : "short", month: "short", day: "numeric" });
}

/** `15:40` today, `Fri 15:40` within a week, otherwise the date. @param {string | number} when */
export function clock(when, hasSeconds = false) {
  const date = new Date(when);
  const second = hasSeconds ? /** @type {const} */ ("2-digit") : undefined;
  const time = date.toLocaleTimeString(locale.value, { hour: "2-digit", minute: "2-digit", second, hour12: false });
  if (date.toDateString() === new Date(now.peek()).toDateString()) return time;
  const isNear = Math.abs(date.getTime() - now.peek()) < 6 * 86_400_000;
  const day = date.toLocaleDateString(locale.value, isNear ? { weekday: "short" } : { month: "short", day: "numeric" });
  return `${day} ${time}`;
}

// Control characters, and those that change the direction of text or take no room: they could hide what a name says.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from the server on one line, with everything in it visible. @param {string} text */
export function visible(text) {
  return text.replace(HIDDEN, (one) => {
    if (one === "\t") return " ";
    if (one === "\n") return "↵";
    return `⟨U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** The same with its lines and tabs. @param {string} text */
export const visibleLines = (text) => text.replace(/[^\n\t]+/g, visible);

const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of a terminal that is not reordered. @param {string} text */
export const visibleDirections = (text) => text.replace(DIRECTIONS, visible);

/** @param {string} word */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** @type {Record<string, string>} */
const SHORT_ESCAPES = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** With escapes that bash reads, as the command line writes them. @param {string} word */
function escaped(word) {
  const safe = word.replace(/[\\']/g, "\\$&").replace(HIDDEN, (one) => {
    const code = one.charCodeAt(0);
    return SHORT_ESCAPES[one] ?? (code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`);
  });
  return `$'${safe}'`;
}

/** A word of a command to copy: one line, nothing hidden, and a shell reads the same word. @param {string} word */
export const shellWord = (word) => (word.search(HIDDEN) < 0 ? quoted(word) : escaped(word));

/** A command to copy. @param {string[]} words */
export const shellCommand = (words) => words.map(shellWord).join(" ");

/** A command to read, with its lines as they are: for `visible`. @param {string[]} words */
export const commandText = (words) => words.map(quoted).join(" ");

/** Ids as the command line takes them: `3-7 9`. @param {number[]} ids */
export function ranges(ids) {
  const sorted = [...ids].sort((a, b) => a - b);
  const found = [];
  for (let i = 0; i < sorted.length;) {
    let last = i;
    while (sorted[last + 1] === sorted[last] + 1) last += 1;
    found.push(last === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[last]}`);
    i = last + 1;
  }
  return found;
}
