// The controller's own log: its last lines, and what is written while the view is open.
import { html, useEffect, useLayoutEffect, useRef, useState } from "/page/lib/preact.js";
import { get } from "/page/data/http.js";
import { CopyCommand } from "/page/parts/bits.js";
import { query, setQuery } from "/page/router/router.js";
import { visible } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const EVERY_MS = 2000;
const MOST_LINES = 5000;

/** @typedef {{ text: string, next: string, cut: boolean }} Part */

/** @param {boolean} isFollowing */
function useLog(isFollowing) {
  const [lines, setLines] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState("");
  const next = useRef("");
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      if (document.visibilityState !== "visible") return;
      try {
        const part = /** @type {Part} */ (await get("/controller/log", { after: next.current }, ending.signal));
        const isFresh = !next.current || part.cut;
        const more = part.text.split("\n").slice(0, -1);
        next.current = part.next;
        if (isFresh || more.length) setLines((before) => [...(isFresh ? [] : before), ...more].slice(-MOST_LINES));
        setProblem("");
      } catch (error) {
        if (!ending.signal.aborted) setProblem(/** @type {Error} */ (error).message);
      }
    };
    void read();
    const timer = isFollowing ? setInterval(read, EVERY_MS) : 0;
    return () => (ending.abort(), clearInterval(timer));
  }, [isFollowing]);
  return { lines, problem };
}

export function ControllerLog() {
  const isFollowing = query.value.get("follow") !== "0";
  const { lines, problem } = useLog(isFollowing);
  const text = query.value.get("text") ?? "";
  const shown = text ? lines.filter((line) => line.toLowerCase().includes(text.toLowerCase())) : lines;
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (isFollowing && ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [shown.length, isFollowing]);
  return html`<div class="filters" role="group" aria-label=${t("filters")}>
      <input class="field" type="search" data-search aria-label=${t("own_log.search")} placeholder=${t("own_log.search")} value=${text}
        onInput=${(/** @type {any} */ event) => setQuery({ text: event.target.value })} />
      <label class="check"><input type="checkbox" checked=${isFollowing} onChange=${(/** @type {any} */ event) => setQuery({ follow: event.target.checked ? null : "0" })} /> ${t("log.follow")}</label>
      <span class="fill"></span>
      <code>tarmac log controller -f</code><${CopyCommand} command="tarmac log controller -f" isBare />
    </div>
    ${problem && html`<p class="problem panel" role="alert">${problem}</p>`}
    <pre class="own-log" ref=${ref} tabindex="0" role="region" aria-label=${t("admin.log")}>${shown.map(
      (line, at) => html`<span key=${at} data-level=${levelOf(line)}>${visible(line)}${"\n"}</span>`,
    )}</pre>`;
}

/** @param {string} line */
const levelOf = (line) => /^\S+ \S+ (WARNING|ERROR|CRITICAL) /.exec(line)?.[1];
