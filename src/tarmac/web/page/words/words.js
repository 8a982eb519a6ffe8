// The page's sentences, in the reader's language. en.js and zh.js have those of the first view and of several views;
// words/rooms/ has one file for each view that is read later.
import { computed, effect, signal } from "/page/lib/signals.js";
import { en } from "/page/words/en.js";
import { zh } from "/page/words/zh.js";

/**
 * @typedef {Record<string, string | { one?: string, other: string }>} Words
 * @typedef {{ en: Words, zh: Words }} Room
 */

/** @type {Record<string, Words>} */
const LANGUAGES = { en, zh };

/** Add the sentences of a view that is read later (words/rooms/). @param {Room} room */
export function learn(room) {
  Object.assign(en, room.en);
  Object.assign(zh, room.zh);
}

const KEPT = "tarmac.language";

export const language = signal(chosen());

function chosen() {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages].map((code) => code?.slice(0, 2).toLowerCase());
  return wanted.find((code) => code && code in LANGUAGES) ?? "en";
}

/** @param {string} code */
export function speak(code) {
  localStorage.setItem(KEPT, code);
  language.value = code;
}

// All tabs of a browser speak the same language: one of them reads the sentences of the server for all.
window.addEventListener("storage", ({ key }) => key === KEPT && (language.value = chosen()));

effect(() => {
  document.documentElement.lang = language.value === "zh" ? "zh-CN" : language.value;
});

const plural = computed(() => new Intl.PluralRules(language.value));
export const locale = computed(() => (language.value === "zh" ? "zh-CN" : "en-GB"));

/**
 * The sentence with this key. `{name}` stands for a value; a plural form is chosen by the value `n`.
 * @param {string} key @param {Record<string, string | number>} [values] @returns {string}
 */
export function t(key, values = {}) {
  const found = LANGUAGES[language.value][key] ?? en[key] ?? key;
  const form =
    typeof found === "string" ? found : (plural.value.select(Number(values.n)) === "one" && found.one) || found.other;
  return form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
