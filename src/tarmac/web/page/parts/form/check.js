// The API checks a form while it is typed: a dry run, a moment after the last key.
import { useEffect, useRef, useState } from "/page/lib/preact.js";
import { API, change, Refusal, send } from "/page/data/http.js";
import { language } from "/page/words/words.js";

const AFTER_MS = 250;
const AGAIN_MS = 1000; // while the controller restarts

/**
 * @typedef {{ field: string | null, line: number | null, column: number | null, message: string, hint: string | null }} Mistake
 * @typedef {{ estimated_start: string | null, estimate_basis: string | null, reasons: string[] }} Start
 * @typedef {{
 *   ids: number[], hints: string[], count: number, jobs: { command: string, params: Record<string, string>, line: number | null }[],
 *   command_line: string, mistakes: Mistake[], more_mistakes?: number, start: Start | null,
 * }} Answer
 * @typedef {{ method: string, path: string, body: Record<string, unknown> }} Request
 */

/** Send a form, again if the answer was lost. @param {Request} request @returns {Promise<Answer>} */
export const sendForm = ({ method, path, body }) => change(method, path, body);

/** @param {Request} request @param {AbortSignal} signal @returns {Promise<Answer>} */
async function checkForm({ method, path, body }, signal) {
  return (await send(method, API + path, { body: { ...body, dry_run: true }, signal })).json();
}

/**
 * The answer to a dry run of the request, or null before the first one. `isCurrent`: it is about what is typed now.
 * `isAway`: the server does not answer, so that the mistakes of an earlier text say nothing.
 * @param {Request | null} request
 * @returns {{ answer: Answer | null, isCurrent: boolean, isAway: boolean }}
 */
export function useCheck(request) {
  const [found, setFound] = useState(/** @type {{ answer: Answer, about: string } | null} */ (null));
  const [turn, setTurn] = useState(0);
  const [isAway, setAway] = useState(false);
  const about = request && JSON.stringify([request, language.value]);
  const asked = useRef(request);
  asked.current = request;
  useEffect(() => {
    if (!about) return undefined;
    const control = new AbortController();
    const check = async () => {
      const wanted = /** @type {Request} */ (asked.current);
      try {
        const answer = await checkForm(wanted, control.signal);
        setFound({ answer, about });
        setAway(false);
      } catch (error) {
        if (control.signal.aborted) return;
        const isLost = !(error instanceof Refusal && error.status > 0);
        setAway(isLost);
        if (isLost) setTimeout(() => setTurn(turn + 1), AGAIN_MS);
        else setFound({ answer: refused(error), about });
      }
    };
    const timer = setTimeout(() => void check(), AFTER_MS);
    return () => (clearTimeout(timer), control.abort());
  }, [about, turn]);
  const answer = request && found ? found.answer : null;
  const isCurrent = found !== null && found.about === about;
  return { answer: answer && isAway ? { ...answer, mistakes: [], start: null } : answer, isCurrent, isAway };
}

/** A refusal of the whole request. @param {Refusal} error @returns {Answer} */
function refused(error) {
  return { ids: [], hints: [], count: 0, jobs: [], command_line: "", mistakes: [mistakeOf(error)], start: null };
}

/** What the server said, above the button. @param {unknown} error @returns {Mistake} */
export function mistakeOf(error) {
  const hint = error instanceof Refusal ? error.hint : null;
  return { field: null, line: null, column: null, message: error instanceof Error ? error.message : String(error), hint };
}
