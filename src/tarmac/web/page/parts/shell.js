// The frame around every view: counts, navigation, search, language, theme, and whether what is shown is current.
import { html, useEffect, useRef, useState } from "/page/lib/preact.js";
import { computed } from "/page/lib/signals.js";
import { chooseTheme, theme } from "/page/data/appearance.js";
import { now } from "/page/data/clock.js";
import { isUnkept } from "/page/data/drafts.js";
import { logOut, session } from "/page/data/http.js";
import { atWorkCount, failedToday, gpus, jobsOnGpus, nodes, queue, waitingCount } from "/page/data/store.js";
import { cutSince } from "/page/data/stream.js";
import { Others } from "/page/parts/bits.js";
import { areKeysShown, Confirmation, Keys } from "/page/parts/dialog.js";
import { Icon } from "/page/parts/icons.js";
import { Toasts, sayRefusal } from "/page/parts/toast.js";
import { go, isWall, path } from "/page/router/router.js";
import { clock, duration, whole } from "/page/words/format.js";
import { language, speak, t } from "/page/words/words.js";

const SHOWN_AFTER_MS = 1500; // a restart of the controller takes less

const VIEWS = [
  { address: "/", word: "view.overview", icon: "gpus" },
  { address: "/queue", word: "view.queue", icon: "list" },
  { address: "/history", word: "view.history", icon: "past" },
  { address: "/reports", word: "view.reports", icon: "bars" },
  { address: "/nodes", word: "view.nodes", icon: "nodes", isRare: true },
  { address: "/reserve", word: "view.reserve", icon: "calendar", isRare: true },
  { address: "/settings", word: "view.settings", icon: "sliders", isRare: true },
  { address: "/admin", word: "view.admin", icon: "key", isForAdmins: true, isRare: true },
];

function switchTheme() {
  const isDark = theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  chooseTheme(isDark ? "light" : "dark");
}

/** True if the page was cut off for longer than a moment. */
export const isStale = computed(() => cutSince.value !== null && now.value - cutSince.value > SHOWN_AFTER_MS);

function CutBar() {
  if (!isStale.value || cutSince.value === null) return null;
  const time = duration((now.value - cutSince.value) / 1000);
  return html`<p class="cut-bar" role="alert">${t("cut", { at: clock(cutSince.value), time })}</p>`;
}

/** @param {{ word: string, value: string, href: string, isBad?: boolean }} props */
function Count({ word, value, href, isBad }) {
  return html`<a class="count" href=${href} data-bad=${isBad}><span>${t(word)}</span> <b>${value}</b></a>`;
}

function Counts() {
  const busy = gpus.value.filter((gpu) => jobsOnGpus.value.has(gpu.uuid) || gpu.held).length;
  const failed = failedToday.value.size;
  return html`<nav class="counts" aria-label=${t("counts")}>
    <${Count} word="count.gpus" value=${`${busy}/${gpus.value.length}`} href="/" />
    <${Count} word="count.running" value=${whole(atWorkCount.value)} href="/queue?state=running" />
    <${Count} word="count.waiting" value=${whole(waitingCount.value)} href="/queue?state=waiting" />
    <${Count} word="count.failed" value=${whole(failed)} href="/history?state=failed&span=day" isBad=${failed > 0} />
  </nav>`;
}

/** The same in large figures, without links, for a screen on a wall. */
function WallFigures() {
  const failed = failedToday.value.size;
  const busy = gpus.value.filter((gpu) => jobsOnGpus.value.has(gpu.uuid) || gpu.held).length;
  const figures = [
    ["count.gpus", `${busy}/${gpus.value.length}`],
    ["count.running", whole(atWorkCount.value)],
    ["count.waiting", whole(waitingCount.value)],
    ["count.failed", whole(failed)],
  ];
  return html`<dl class="wall-figures" aria-label=${t("counts")}>
    ${figures.map(([word, value]) => html`<div key=${word} data-bad=${word === "count.failed" && failed > 0}><dt>${t(word)}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

export const searchBox = { current: /** @type {HTMLInputElement | null} */ (null) };

/** Search from anywhere: it is the text filter of the queue, or a job's number. */
function Search() {
  const ref = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => void (searchBox.current = ref.current));
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = ref.current?.value.trim() ?? "";
    if (/^#?\d+$/.test(text)) go(`/jobs/${text.replace("#", "")}`);
    else if (text) go(`/history?text=${encodeURIComponent(text)}`);
    if (ref.current) ref.current.value = "";
  };
  return html`<form role="search" class="search" onSubmit=${onSubmit}>
    <input ref=${ref} class="field" type="search" aria-label=${t("search")} placeholder=${t("search.hint")} />
  </form>`;
}

function Header() {
  const node = nodes.value[0]?.name;
  const other = language.value === "zh" ? "en" : "zh";
  const leave = () => logOut().catch(sayRefusal);
  return html`<header class="header">
    <a class="brand" href="/"><${Icon} name="logo" size=${14} /> Tarmac</a>
    <span class="where">${
      node &&
      html`<a class="quiet" href="/nodes">${nodes.value.length > 1 ? t("nodes", { n: nodes.value.length }) : html`<${Others} text=${node} />`}</a>`
    }</span>
    <${Counts} />
    <${Search} />
    <a class="button new-job" href="/new" title=${t("new_job")}><${Icon} name="plus" /> <span>${t("new_job")}</span></a>
    <button type="button" class="button bare" lang=${other === "zh" ? "zh-CN" : "en"} title=${t("switch_language")}
      aria-label=${t("switch_language")} onClick=${() => speak(other)}>${other === "zh" ? "中" : "EN"}</button>
    <button type="button" class="button bare" title=${t("switch_theme")} aria-label=${t("switch_theme")} onClick=${switchTheme}>
      <${Icon} name="half" size=${14} />
    </button>
    <details class="menu">
      <summary class="button bare"><${Others} text=${session.value?.user ?? ""} /></summary>
      <div>
        <button type="button" class="button bare" onClick=${() => (areKeysShown.value = true)}>${t("keys.title")}</button>
        <button type="button" class="button bare" onClick=${leave}>${t("log_out")}</button>
      </div>
    </details>
  </header>`;
}

/** @param {string} address of a view, or of a list whose page is shown */
const isShown = (address) => path.value === address || path.value.startsWith(`${address}/`);

/** @param {{ view: typeof VIEWS[number] }} props */
function ViewLink({ view: { address, word, icon } }) {
  return html`<a href=${address} aria-current=${isShown(address) ? "page" : undefined}>
    <${Icon} name=${icon} size=${14} /> ${t(word)}</a>`;
}

/** All views. On a phone, those that are opened rarely are behind a button. */
function Navigation() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path.value]);
  const shown = VIEWS.filter((view) => !view.isForAdmins || session.value?.is_admin);
  const rare = shown.filter((view) => view.isRare);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && setOpen(false);
  return html`<nav class="views" aria-label=${t("views")} onKeyDown=${onKeyDown}>
    ${shown.filter((view) => !view.isRare).map((view) => html`<${ViewLink} key=${view.address} view=${view} />`)}
    <button type="button" class="more-views" aria-expanded=${isOpen} aria-controls="rare-views" data-current=${rare.some((view) => isShown(view.address))}
      onClick=${() => setOpen(!isOpen)}><${Icon} name="more" size=${14} /> ${t("views.more")}</button>
    <div id="rare-views" class="rare-views" data-open=${isOpen}>${rare.map((view) => html`<${ViewLink} key=${view.address} view=${view} />`)}</div>
  </nav>`;
}

function Notices() {
  const state = queue.value;
  if (!state) return null;
  return html`<div class="notices">
    ${state.notice && html`<p class="notice">${t("notice")} <${Others} text=${state.notice.text} /></p>`}
    ${
      state.paused &&
      html`<p class="notice">${t("queue.paused", { by: state.by ?? "" })} <${Others} text=${state.reason ?? ""} /></p>`
    }
    ${state.draining && html`<p class="notice">${t("queue.draining")} <${Others} text=${state.reason ?? ""} /></p>`}
    ${state.suspended.map(
      (one) => html`<p class="notice"><${Others} text=${one.owner} />: <${Others} text=${one.reason} /></p>`,
    )}
  </div>`;
}

/** @param {{ children?: unknown }} props */
export function Shell({ children }) {
  return html`<div class="shell" data-stale=${isStale.value} data-wall=${isWall.value}>
    <a class="skip" href="#main">${t("skip")}</a>
    ${!isWall.value && html`<${Header} />`}
    ${!isWall.value && html`<${Navigation} />`}
    <main id="main" tabindex="-1"><${CutBar} /><${Notices} />${isWall.value && html`<${WallFigures} />`}${isUnkept.value && html`<p class="notice bad" role="status">${t("unkept")}</p>`}${children}</main>
    <${Toasts} /><${Confirmation} /><${Keys} />
  </div>`;
}
