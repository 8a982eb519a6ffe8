// A group of jobs: what it is, the states of its jobs, their parameters, and their results.
import { html, useMemo, useState } from "/page/lib/preact.js";
import { countsOf, useGroup } from "/page/data/group.js";
import { Ago, CopyCommand, Empty, Others } from "/page/parts/bits.js";
import { GroupActions } from "/page/parts/group/actions.js";
import { isAsked } from "/page/parts/group/asked.js";
import { StateGrid } from "/page/parts/group/grid.js";
import { GroupResults } from "/page/parts/group/results.js";
import { columnsOf, ResultsTable } from "/page/parts/group/table.js";
import { State } from "/page/parts/state.js";
import { query } from "/page/router/router.js";
import { visible, whole } from "/page/words/format.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/group.js";

/**
 * @typedef {import("/page/data/types.js").Job} Job
 * @typedef {import("/page/data/group.js").Group} Group
 */

/** @param {{ word: string }} props the id */
export function GroupPage({ word }) {
  const [turn, setTurn] = useState(0);
  const { group, members, problem } = useGroup(word, turn);
  if (problem && !group) return html`<${Empty} title=${problem}><a class="button" href="/queue">${t("view.queue")}</a><//>`;
  if (!group) return null;
  const counts = countsOf(group, members);
  const known = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return html`<div class="group">
    <${Head} group=${group} counts=${counts} removed=${group.count - known} />
    <${GroupActions} id=${group.id} counts=${counts} members=${members} onDone=${() => setTurn(turn + 1)} />
    ${members.length < known && html`<p class="quiet">${t("group.first", { jobs: whole(members.length) })}</p>`}
    <${StateGrid} members=${members} />
    <${GroupResults} group=${group.id} members=${members} />
    ${!isAsked() && html`<${Jobs} members=${members} />`}
  </div>`;
}

/** @param {{ group: Group, counts: Record<string, number>, removed: number }} props */
function Head({ group, counts, removed }) {
  const show = `tarmac ls --group ${group.id}`;
  return html`<header class="group-head">
    <h1>${t("group.title", { kind: t(`group.${group.kind}`), id: group.id })} ${group.name && html`<${Others} text=${group.name} />`}</h1>
    <p><span class="quiet">${t("group.of", { n: group.count, jobs: whole(group.count), owner: visible(group.owner) })} · <${Ago} at=${group.submitted_at} />
      ${group.max_running !== null && html` · ${t("group.at_once", { n: group.max_running })}`}
      ${removed > 0 && html` · ${t("group.removed", { n: removed })}`}</span></p>
    <p class="command"><code><${Others} text=${group.command} /></code> <span class="quiet"><${Others} text=${group.varies} /></span><${CopyCommand} command=${show} isBare /></p>
    <p class="state-counts">${Object.entries(counts).filter(([, n]) => n > 0).map(([state, n]) => html`<span key=${state}><${State} state=${state} /> <b>${whole(n)}</b></span>`)}</p>
  </header>`;
}

/** Parameters and states, while no metric is asked for. @param {{ members: Job[] }} props */
function Jobs({ members }) {
  const rows = useMemo(() => members.map((job) => ({ ...job, params: job.params ?? {}, metrics: {} })), [members]);
  const columns = useMemo(() => columnsOf(rows, []), [rows]);
  const sort = query.value.get("sort") ?? "id";
  const order = { name: sort.replace(/^-/, ""), isDown: sort.startsWith("-") };
  return html`<section aria-label=${t("group.jobs")}><h2>${t("group.jobs")}</h2>
    <${ResultsTable} rows=${rows} columns=${columns} order=${order} best=${null} label=${t("group.jobs")} />
  </section>`;
}
