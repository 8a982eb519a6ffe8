// An answer of the API that one view needs. It is read again after a change, and when the server is back.
import { useEffect, useState } from "/page/lib/preact.js";
import { get } from "/page/data/http.js";
import { resumed } from "/page/data/stream.js";
import { language } from "/page/words/words.js";

/**
 * @template T
 * @typedef {{ value: T | null, problem: string, again: () => void }} Reading
 */

/**
 * @template T
 * @param {string} path
 * @returns {Reading<T>}
 */
export const useReading = (path) => useAnswer((ending) => get(path, {}, ending), path);

/**
 * @template T
 * @param {(ending: AbortSignal) => Promise<T>} read
 * @param {string} key read again if it changes
 * @returns {Reading<T>}
 */
export function useAnswer(read, key) {
  const [found, setFound] = useState(/** @type {{ value: T | null, problem: string }} */ ({ value: null, problem: "" }));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    read(ending.signal).then(
      (value) => !ending.signal.aborted && setFound({ value, problem: "" }),
      (error) => {
        if (!ending.signal.aborted && error.status !== 0) setFound((before) => ({ ...before, problem: error.message }));
      },
    );
    return () => ending.abort();
  }, [key, turn, language.value, resumed.value]);
  return { ...found, again: () => setTurn((before) => before + 1) };
}
