// A long list that the server gives in pages: the first at once, the next ones as the list is scrolled.
import { useEffect, useRef, useState } from "/page/lib/preact.js";
import { resumed } from "/page/data/stream.js";

/**
 * @template Row
 * @typedef {{ rows: Row[], next: any, problem: string, more?: any }} Pages more: what else the last answer said
 */

/**
 * @template Row
 * @param {(after: any, signal?: AbortSignal) => Promise<{ rows: Row[], next: any, more?: any }>} read
 * @param {string} key read again from the beginning if it changes
 * @param {number} afterMs wait so long before that, so that typing a word asks once
 * @returns {{ found: Pages<Row> | null, readOn: () => Promise<void> }}
 */
export function usePages(read, key, afterMs) {
  const [found, setFound] = useState(/** @type {Pages<Row> | null} */ (null));
  const isBusy = useRef(false);
  const shown = useRef(key);
  const turn = useRef(0); // rows that are shown stay when the server is back
  if (!found || found.problem) turn.current = resumed.value;
  useEffect(() => {
    const ending = new AbortController();
    const begin = () => {
      shown.current = key;
      read(null, ending.signal).then(
        (page) => setFound({ ...page, problem: "" }),
        (error) => !ending.signal.aborted && setFound({ rows: [], next: null, problem: error.message }),
      );
    };
    const timer = setTimeout(begin, found ? afterMs : 0);
    return () => (clearTimeout(timer), ending.abort());
  }, [key, turn.current]);
  const readOn = async () => {
    if (!found?.next || isBusy.current) return;
    isBusy.current = true;
    try {
      const page = await read(found.next);
      if (shown.current === key) setFound({ ...page, rows: [...found.rows, ...page.rows], problem: "" });
    } catch (error) {
      setFound({ ...found, problem: /** @type {Error} */ (error).message });
    }
    isBusy.current = false;
  };
  return { found, readOn };
}
