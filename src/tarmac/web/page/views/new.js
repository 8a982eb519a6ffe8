// New jobs: one, a sweep or a batch. `/new?from=7` is the form of a job that exists, for a copy with changes.
import { html, useState } from "/page/lib/preact.js";
import { mistakeOf, sendForm, useCheck } from "/page/parts/form/check.js";
import { emptyDraft, givenOptions, shellOf, useFormDraft } from "/page/parts/form/draft.js";
import { CommandField, DirectoryField, OptionFields, sorted } from "/page/parts/form/form.js";
import { BatchFields, SweepFields, TextField } from "/page/parts/form/many.js";
import { useDeclaration } from "/page/parts/form/options.js";
import { Outcome, Preview } from "/page/parts/form/outcome.js";
import { Templates } from "/page/parts/form/templates.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { go, query } from "/page/router/router.js";
import { ChangedJob } from "/page/views/changed_job.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/form.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Draft} Draft
 * @typedef {import("/page/parts/form/draft.js").Option} Option
 * @typedef {import("/page/parts/form/options.js").Declaration} Declaration
 */

const KINDS = ["job", "sweep", "batch"];
const OTHER_FIELDS = ["command", "parameters", "zip", "where", "sample", "seed", "group", "batch", "format"];

/** @param {string} kind @param {Option[]} options @param {Draft} draft */
function bodyOf(kind, options, draft) {
  const body = { kind, options: givenOptions(options, draft), group: draft.group.trim() || null };
  if (kind === "batch") return { ...body, batch: draft.batch, format: draft.format || null };
  const command = { ...body, command: draft.command, shell: shellOf(draft) };
  if (kind === "job") return { ...command, group: null };
  const parameters = draft.parameters.filter((one) => one.name.trim() || one.values).map((one) => `${one.name.trim()}=${one.values}`);
  const { zip, where, sample, seed } = draft;
  return { ...command, parameters, zip, where: where || null, sample: sample.trim() || null, seed: seed.trim() || null };
}

export function New() {
  const from = query.value.get("from");
  if (from && /^\d+$/.test(from)) return html`<${ChangedJob} key=${from} id=${Number(from)} isCopy />`;
  return html`<${NewJobs} />`;
}

/** The options of this kind of form: only a single job can be an array. @param {Declaration} declaration @param {string} kind */
function optionsOf(declaration, kind) {
  return declaration.options.filter((one) => kind === "job" || one.name !== "array");
}

function NewJobs() {
  const given = query.value.get("kind") ?? "";
  const kind = KINDS.includes(given) ? given : "job";
  const declaration = useDeclaration();
  return html`<div class="form-view">
    <h1>${t("new_job")}</h1>
    <nav class="tabs" aria-label=${t("form.kinds")}>
      ${KINDS.map((one) => html`<a href=${one === "job" ? "/new" : `/new?kind=${one}`} aria-current=${one === kind ? "page" : undefined}>${t(`form.kind.${one}`)}</a>`)}
    </nav>
    ${declaration && html`<${NewForm} key=${kind} kind=${kind} declaration=${declaration} />`}
  </div>`;
}

/** @param {{ kind: string, declaration: Declaration }} props */
function NewForm({ kind, declaration }) {
  const [draft, update, drop] = useFormDraft("new", emptyDraft());
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState(/** @type {{ about: string, mistake: import("/page/parts/form/check.js").Mistake } | null} */ (null));
  const options = optionsOf(declaration, kind);
  const isBegun = isTried || Boolean(kind === "batch" ? draft.batch.trim() : draft.command.trim());
  const request = { method: "POST", path: "/jobs/form", body: bodyOf(kind, options, draft) };
  const { answer, isCurrent, isAway } = useCheck(request);
  const shown = isBegun || !answer ? answer : { ...answer, mistakes: answer.mistakes.filter((one) => !["command", "batch"].includes(one.field ?? "")) };
  const { wrong, general, others } = sorted(shown, [...OTHER_FIELDS, ...options.map((one) => one.name)]);
  const isRefused = refused?.about === JSON.stringify(request) && !general.length && !others;
  const said = isRefused ? [refused.mistake] : general;
  const props = { options, draft, update, wrong };
  const onSubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    setBusy(true);
    try {
      const token = draft.token && `${kind}.${draft.token}`;
      const { ids } = await sendForm({ ...request, body: { ...request.body, token: token || null } });
      drop();
      say({ text: t("form.submitted", { n: ids.length, id: ids[0] }), command: `tarmac show ${ids[0]}` });
      go(ids.length === 1 ? `/jobs/${ids[0]}` : `/queue?state=all&open=${ids[0]}`);
    } catch (error) {
      setBusy(false);
      setRefused({ about: JSON.stringify(request), mistake: mistakeOf(error) });
      sayRefusal(error);
    }
  };
  return html`<form class="form" onSubmit=${onSubmit}>
    <div class="form-fields">
      <${Templates} options=${() => givenOptions(options.filter((one) => one.can_default), draft)}
        onFill=${(/** @type {any} */ texts) => update({ options: { ...draft.options, ...texts } })} />
      <${DirectoryField} ...${props} />
      ${kind === "batch" ? html`<${BatchFields} ...${props} />` : html`<${CommandField} ...${props} help=${t(kind === "sweep" ? "form.sweep_help" : "form.command_help")} />`}
      ${kind === "sweep" && html`<${SweepFields} ...${props} />`}
      ${kind !== "job" && html`<div class="form-grid"><${TextField} name="group" label=${t("form.group")} ...${props} /></div>`}
      <${OptionFields} ...${props} isMany=${kind !== "job"} />
      <p class="quiet form-note">${t("form.environment", { names: declaration.environment.join(", ") })}</p>
    </div>
    <div class="form-side">
      <${Outcome} answer=${answer} isCurrent=${isCurrent} isAway=${isAway} general=${said} others=${others}>
        <div class="buttons">
          <button type="button" class="button" onClick=${drop}>${t("form.clear")}</button>
          <button type="submit" class="button first" disabled=${isBusy}>${kind !== "job" && answer && answer.count > 1 ? t("form.submit_many", { n: answer.count }) : t("form.submit")}</button>
        </div>
      <//>
      ${kind !== "job" && html`<${Preview} answer=${answer} />`}
    </div>
  </form>`;
}
