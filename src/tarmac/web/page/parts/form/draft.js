// What is typed into a form. It is kept in the tab, so that a reload or a restart of the controller loses nothing.
import { useMemo } from "/page/lib/preact.js";
import { useDraft } from "/page/data/drafts.js";

/**
 * @typedef {string | boolean} FieldText lists are text too: separated by commas, variables by lines
 * @typedef {{ name: string, values: string }} Parameter
 * @typedef {{
 *   command: string, run: string, options: Record<string, FieldText>, parameters: Parameter[], zip: boolean,
 *   where: string, sample: string, seed: string, group: string, batch: string, format: string, token: string,
 * }} Draft token: lets a repetition after a lost answer make one job; empty until something is typed
 * @typedef {{
 *   name: string, flag: string, wire: string, metavar: string, help: string, group: string, choices: string[],
 *   kind: "switch" | "choice" | "choices" | "number" | "list" | "text", for_admins: string[], can_edit: boolean,
 *   can_clear: boolean, can_default: boolean, is_secret: boolean, is_local: boolean,
 * }} Option
 * @typedef {{ command: string, shell: boolean, options: Record<string, string | string[] | boolean>, unresettable: Record<string, string> }} JobForm
 */

const LINES = ["env"]; // one value a line: a value may have commas

/** @returns {Draft} */
export function emptyDraft() {
  return {
    command: "",
    run: "",
    options: {},
    parameters: [
      { name: "", values: "" },
      { name: "", values: "" },
    ],
    zip: false,
    where: "",
    sample: "",
    seed: "",
    group: "",
    batch: "",
    format: "",
    token: "",
  };
}

/** @param {JobForm} form @returns {Draft} */
export function draftOf(form) {
  return { ...emptyDraft(), command: form.command, run: form.shell ? "shell" : "words", options: textsOf(form.options) };
}

/** @param {Record<string, string | string[] | boolean>} options @returns {Record<string, FieldText>} */
export function textsOf(options) {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(LINES.includes(name) ? "\n" : ",") : value,
    ]),
  );
}

/** The value of a field as the API takes it. @param {Option} option @param {FieldText | undefined} text */
export function valueOf(option, text) {
  if (option.kind === "switch") return text === true;
  const word = typeof text === "string" ? text.trim() : "";
  if (option.kind !== "list") return word;
  return word.split(LINES.includes(option.name) ? "\n" : ",").map((one) => one.trim()).filter(Boolean);
}

/** @param {unknown} value */
export const isGiven = (value) => value === true || (typeof value !== "boolean" && /** @type {string} */ (value).length > 0);

/** The options that are filled in. @param {Option[]} options @param {Draft} draft */
export function givenOptions(options, draft) {
  const found = options.map((option) => /** @type {[string, any]} */ ([option.name, valueOf(option, draft.options[option.name])]));
  return Object.fromEntries(found.filter(([, value]) => isGiven(value)));
}

/** Whether a shell runs the command: null if it decides itself. @param {Draft} draft */
export const shellOf = (draft) => (draft.run === "shell" ? true : draft.run === "words" ? false : null);

/**
 * A draft that is kept under a name until it is dropped. Only what differs from `first` is kept, so that a draft of a job
 * does not revert what was changed elsewhere. Each change gives it another token: a token stands for one content.
 * @param {string} name @param {Draft} first
 * @returns {[Draft, (changes: Partial<Draft>) => void, () => void]}
 */
export function useFormDraft(name, first) {
  const [text, setText, drop] = useDraft(name);
  const kept = /** @type {Partial<Draft>} */ (useMemo(() => (text ? JSON.parse(text) : {}), [text]));
  const draft = { ...first, ...kept, options: { ...first.options, ...kept.options } };
  const update = (/** @type {Partial<Draft>} */ changes) => {
    const next = { ...draft, ...changes };
    const options = differences(first.options, next.options);
    setText(JSON.stringify({ ...differences(first, next), options, token: crypto.randomUUID() }));
  };
  return [draft, update, drop];
}

/** The entries that are new or changed. @param {Record<string, any>} before @param {Record<string, any>} after */
function differences(before, after) {
  const isSame = (/** @type {string} */ name) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => !isSame(name)));
}
