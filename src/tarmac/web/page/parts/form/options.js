// The declaration of job options, read once for each language.
import { useEffect, useMemo } from "/page/lib/preact.js";
import { useReading } from "/page/data/reading.js";
import { sayRefusal } from "/page/parts/toast.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Option} Option
 * @typedef {{ options: Option[], environment: string[], home: string }} Declaration
 */

const HIDDEN = ["no-env"]; // holds for every job of a form

/** @returns {Declaration | null} */
export function useDeclaration() {
  const { value, problem } = /** @type {import("/page/data/reading.js").Reading<Declaration>} */ (useReading("/job-options"));
  useEffect(() => void (problem && sayRefusal(new Error(problem))), [problem]);
  return useMemo(() => value && { ...value, options: value.options.filter((one) => !one.is_local && !HIDDEN.includes(one.name)) }, [value]);
}
