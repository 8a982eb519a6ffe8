// The output of a job in a terminal: live, with search. The terminal is loaded when the first log is shown.
import { html, useEffect, useRef, useState } from "/page/lib/preact.js";
import { later, style } from "/page/lib/later.js";
import { isEnded } from "/page/data/store.js";
import { Icon } from "/page/parts/icons.js";
import { colour, onTheme, token } from "/page/look/colours.js";
import { LogReader } from "/page/parts/job/log_reader.js";
import { visibleDirections } from "/page/words/format.js";
import { t } from "/page/words/words.js";

const MOST_LINES = 20_000; // that are shown of a long log; all of it can be downloaded

const LEAST_COLUMNS = 110; // progress bars that are drawn for wider terminals would break into many lines

function themeNow() {
  const [ground, text, quiet, blue, green, red, amber, violet] = [
    "--raised",
    "--text",
    "--quiet",
    "--running",
    "--succeeded",
    "--failed",
    "--held",
    "--paused",
  ].map(colour);
  return {
    background: ground,
    foreground: text,
    cursor: ground,
    selectionBackground: colour("--chosen"),
    selectionInactiveBackground: colour("--found-now"), // the match that was jumped to
    black: quiet,
    red,
    green,
    yellow: amber,
    blue,
    magenta: violet,
    cyan: blue,
    white: text,
    brightBlack: quiet,
    brightRed: red,
    brightGreen: green,
    brightYellow: amber,
    brightBlue: blue,
    brightMagenta: violet,
    brightCyan: blue,
    brightWhite: text,
  };
}

const FOUND = () => ({
  matchBackground: colour("--found"),
  activeMatchBackground: colour("--found-now"),
  activeMatchBorder: colour("--text"),
  matchOverviewRuler: colour("--held"),
  activeMatchColorOverviewRuler: colour("--failed"),
});

/** @param {any} parts of the library @param {HTMLElement} box */
function openTerminal({ Terminal, FitAddon, SearchAddon }, box) {
  const terminal = new Terminal({
    convertEol: true,
    disableStdin: true,
    scrollback: MOST_LINES + 5000,
    fontFamily: token("--mono"),
    fontSize: 12,
    lineHeight: 1.25,
    minimumContrastRatio: 4.5,
    cursorInactiveStyle: "none",
    allowProposedApi: true,
    theme: themeNow(),
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.open(box);
  terminal.textarea?.setAttribute("aria-label", t("log"));
  terminal.textarea?.setAttribute("readonly", "");
  terminal.attachCustomKeyEventHandler(() => false); // keys belong to the page
  const resize = () => {
    const room = fit.proposeDimensions();
    if (room && room.rows > 0) terminal.resize(Math.max(room.cols || 0, LEAST_COLUMNS), room.rows);
  };
  resize();
  const sized = new ResizeObserver(resize);
  sized.observe(box);
  const unthemed = onTheme(() => (terminal.options.theme = themeNow()));
  return { terminal, search, close: () => (sized.disconnect(), unthemed(), terminal.dispose()) };
}

/** @param {{ job: import("/page/parts/job/facts.js").WholeJob, attempt: number | null }} props */
export function Log({ job, attempt }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const open = useRef(/** @type {any} */ (null));
  const [isFollowing, setFollowing] = useState(true);
  const [status, setStatus] = useState({ isCut: false, problem: "", removed: false });
  const [isEmpty, setEmpty] = useState(false);
  const [results, setResults] = useState("");
  const following = useRef(true);
  following.current = isFollowing;

  useEffect(() => {
    let isGone = false;
    let reader = /** @type {LogReader | null} */ (null);
    const begin = async () => {
      const library = await later(() => import("/page/lib/terminal.js"));
      await style(library.STYLE);
      if (isGone || !box.current) return;
      const shown = openTerminal(library, box.current);
      open.current = shown;
      shown.search.onDidChangeResults((/** @type {any} */ { resultIndex, resultCount }) =>
        setResults(resultCount ? `${resultIndex + 1}/${resultCount}` : "0"),
      );
      shown.terminal.onScroll(() => noticeScroll(shown.terminal, setFollowing));
      box.current.addEventListener(
        "wheel",
        () => requestAnimationFrame(() => noticeScroll(shown.terminal, setFollowing)),
        { passive: true },
      );
      const decoder = new TextDecoder();
      reader = new LogReader(job.id, attempt, MOST_LINES, {
        write: (bytes) => {
          setEmpty(false);
          const text = visibleDirections(decoder.decode(bytes, { stream: true }));
          shown.terminal.write(text, () => following.current && shown.terminal.scrollToBottom());
        },
        restart: () => shown.terminal.reset(),
        status: (found) => (setStatus(found), setEmpty(!found.problem && !found.removed)),
      });
      reader.start();
    };
    void begin();
    return () => {
      isGone = true;
      reader?.end();
      open.current?.close();
      open.current = null;
    };
  }, []);

  const find = (/** @type {string} */ text, isBack = false) => {
    setFollowing(false);
    return open.current?.search[isBack ? "findPrevious" : "findNext"](text, {
      decorations: FOUND(),
      incremental: false,
    });
  };
  const jump = () =>
    find((job.error_line ?? "Traceback").slice(0, 60), true) || find("Traceback", true) || find("rror", true);
  const onKeyDown = (/** @type {any} */ event) => {
    if (event.key === "Enter" && event.target.value) find(event.target.value, event.shiftKey);
    if (event.key === "Escape") ((event.target.value = ""), open.current?.search.clearDecorations(), setResults(""));
  };
  const follow = () => (setFollowing(!isFollowing), !isFollowing && open.current?.terminal.scrollToBottom());
  const address = `/api/v1/jobs/${job.id}/log${attempt ? `?attempt=${attempt}` : ""}`;
  return html`<section class="log" aria-label=${t("log")}>
    <div class="log-bar" role="toolbar" aria-label=${t("log")}>
      <h2>${t("log")}${job.attempts.length > 1 ? ` · ${t("attempt", { n: attempt ?? job.attempt })}` : ""}</h2>
      <input class="field" type="search" data-search aria-label=${t("log.search")} placeholder=${t("log.search")} onKeyDown=${onKeyDown} />
      <span class="quiet number" role="status">${results}</span>
      <span class="fill"></span>
      ${job.state === "failed" && html`<button type="button" class="button bare" onClick=${jump}>${t("log.jump")}</button>`}
      ${!isEnded(job) && html`<button type="button" class="button bare" aria-pressed=${isFollowing} onClick=${follow}><${Icon} name=${isFollowing ? "succeeded" : "down"} /> ${t("log.follow")}</button>`}
      <a class="button bare" href=${address} download=${`tarmac-${job.id}.${attempt ?? job.attempt}.log`}>${t("log.download")}</a>
    </div>
    ${status.isCut && html`<p class="notice">${t("log.cut", { n: MOST_LINES })}</p>`}
    ${status.removed && html`<p class="notice">${t("log.removed")}</p>`}
    ${status.problem && html`<p class="notice bad"><${"bdi"}>${status.problem}<//></p>`}
    <div class="log-frame">
      ${isEmpty && html`<p class="log-empty quiet" role="status">${t(isEnded(job) ? "log.empty" : "log.no_output")}</p>`}
      <div class="log-screen" ref=${box}></div>
    </div>
  </section>`;
}

/** Following ends when the user scrolls up, and begins again at the bottom. @param {any} terminal @param {(isOn: boolean) => void} setFollowing */
function noticeScroll(terminal, setFollowing) {
  const { viewportY, baseY } = terminal.buffer.active;
  setFollowing(viewportY >= baseY);
}
