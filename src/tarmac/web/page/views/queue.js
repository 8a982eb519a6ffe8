// The queue: running and waiting jobs, filtered and folded, with actions on a selection.
import { html, useEffect, useMemo, useRef } from "/page/lib/preact.js";
import { isLoaded, isLoadingMore, jobs, jobsVersion, orderVersion } from "/page/data/store.js";
import { CopyCommand, Empty } from "/page/parts/bits.js";
import { Filters } from "/page/parts/queue/filters.js";
import { folded, matching, prepareTexts, sorted } from "/page/parts/queue/items.js";
import { JobList, openGroups, Selection } from "/page/parts/queue/list.js";
import { WhyTip } from "/page/parts/queue/why.js";
import { query } from "/page/router/router.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/queue.js";

const FILTERED_BY = /** @type {const} */ (["state", "owner", "project", "tag", "node", "text"]);
const LIVE = ["progress", "when", "elapsed", "memory"]; // columns whose values change without a change of place

function useItems() {
  const wanted = query.value;
  const by = wanted.get("sort") ?? "";
  const version = LIVE.includes(by.replace("-", "")) ? jobsVersion.value : orderVersion.value;
  const values = FILTERED_BY.map((name) => wanted.get(name) ?? "");
  const before = useRef(/** @type {import("/page/data/types.js").Job[]} */ ([]));
  const found = useMemo(() => {
    const filter = /** @type {any} */ (Object.fromEntries(FILTERED_BY.map((name, at) => [name, values[at]])));
    return (before.current = sorted(matching(filter), by, before.current));
  }, [version, ...values, by]);
  const open = wanted.get("open") ?? "";
  const items = useMemo(() => folded(found, openGroups()), [found, open]);
  return { found, items };
}

export function Queue() {
  const { found, items } = useItems();
  useEffect(() => (isLoadingMore.value ? undefined : prepareTexts()), [isLoadingMore.value]);
  if (!isLoaded.value) return null;
  return html`<div class="queue">
    <h1 class="unseen">${t("view.queue")}</h1>
    <${Filters} count=${found.length} />
    ${items.length ? html`<${JobList} items=${items} />` : html`<${Nothing} />`}
    <${Selection} />
    <${WhyTip} />
  </div>`;
}

function Nothing() {
  if (jobs.size && FILTERED_BY.some((name) => query.value.has(name))) {
    return html`<${Empty} title=${t("queue.no_match")}><a class="button" href="/queue">${t("queue.show_all")}</a><//>`;
  }
  return html`<${Empty} title=${jobs.size ? t("queue.none") : t("jobs.none")}>
    <p class="command"><code>tarmac add python train.py</code><${CopyCommand} command="tarmac add python train.py" isBare /></p>
    <a class="button" href="/new">${t("new_job")}</a>
  <//>`;
}
