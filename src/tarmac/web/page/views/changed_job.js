// The form of a job that exists: edit it while it waits (/jobs/7/edit), or queue a copy with changes (/new?from=7).
import { html, useState } from "/page/lib/preact.js";
import { useReading } from "/page/data/reading.js";
import { Empty, Others } from "/page/parts/bits.js";
import { takeBack } from "/page/parts/command_button.js";
import { mistakeOf, sendForm, useCheck } from "/page/parts/form/check.js";
import { draftOf, shellOf, useFormDraft, valueOf } from "/page/parts/form/draft.js";
import { CommandField, DirectoryField, OptionFields, sorted } from "/page/parts/form/form.js";
import { useDeclaration } from "/page/parts/form/options.js";
import { Outcome } from "/page/parts/form/outcome.js";
import { say, sayRefusal } from "/page/parts/toast.js";
import { go } from "/page/router/router.js";
import { t } from "/page/words/words.js";
import "/page/words/rooms/form.js";

/**
 * @typedef {import("/page/parts/form/draft.js").Draft} Draft
 * @typedef {import("/page/parts/form/draft.js").Option} Option
 * @typedef {import("/page/parts/form/draft.js").JobForm} JobForm
 */

/** `/jobs/7/edit`. @param {{ word: string }} props */
export function EditView({ word }) {
  return html`<${ChangedJob} key=${word} id=${Number(word)} />`;
}

/** @param {{ id: number, isCopy?: boolean }} props */
export function ChangedJob({ id, isCopy = false }) {
  const declaration = useDeclaration();
  const { value: form, problem } = /** @type {import("/page/data/reading.js").Reading<JobForm>} */ (useReading(`/jobs/${id}/form`));
  if (problem && !form) return html`<${Empty} title=${problem}><a class="button" href="/queue">${t("view.queue")}</a><//>`;
  if (!declaration || !form) return null;
  const options = declaration.options.filter((one) => one.can_edit);
  return html`<div class="form-view">
    <p class="crumbs quiet"><a href="/queue">${t("view.queue")}</a> / <a href=${`/jobs/${id}`}>#${id}</a></p>
    <h1>${t(isCopy ? "form.copy_title" : "form.edit_title", { id })}</h1>
    <${ChangeForm} id=${id} form=${form} options=${options} isCopy=${isCopy} />
  </div>`;
}

/** What differs from the job; the other way round, what makes a change undone. The form does not show variables. @param {Option[]} options @param {Draft} first @param {Draft} draft */
function changesOf(options, first, draft) {
  const changed = options
    .map((option) => /** @type {[string, any, any]} */ ([option.name, valueOf(option, draft.options[option.name]), valueOf(option, first.options[option.name])]))
    .filter(([, now, before]) => JSON.stringify(now) !== JSON.stringify(before))
    .map(([name, now]) => [name, now]);
  const isCommand = draft.command !== first.command || draft.run !== first.run;
  return { ...(isCommand && { command: draft.command, shell: shellOf(draft) }), options: Object.fromEntries(changed) };
}

/** @param {{ id: number, form: JobForm, options: Option[], isCopy: boolean }} props */
function ChangeForm({ id, form, options, isCopy }) {
  const first = draftOf(form);
  const old = { ...first, options: { ...form.unresettable, ...first.options } };
  const [draft, update, drop] = useFormDraft(`${isCopy ? "copy" : "edit"}.${id}`, first);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState(/** @type {{ about: string, mistake: import("/page/parts/form/check.js").Mistake } | null} */ (null));
  const body = changesOf(options, first, draft);
  const isChanged = "command" in body || Object.keys(body.options).length > 0;
  const request = isChanged || isCopy ? { method: isCopy ? "POST" : "PATCH", path: `/jobs/${id}/form`, body } : null;
  const { answer, isCurrent, isAway } = useCheck(request);
  const { wrong, general, others } = sorted(answer, ["command", ...options.map((one) => one.name)]);
  const isRefused = refused?.about === JSON.stringify(request) && !general.length && !others;
  const said = isRefused ? [refused.mistake] : general;
  const props = { options, draft, update, wrong };
  const onSubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!request) return;
    setBusy(true);
    try {
      const { ids } = await sendForm(request);
      drop();
      const undo = isCopy || "env" in body.options ? undefined : () => void takeBack(() => sendForm({ ...request, body: changesOf(options.filter((one) => one.name in body.options), draft, old) }));
      say({ text: t(isCopy ? "form.submitted" : "form.edited", { n: 1, id: ids[0] }), command: answer?.command_line, undo });
      go(`/jobs/${ids[0]}`);
    } catch (error) {
      setBusy(false);
      setRefused({ about: JSON.stringify(request), mistake: mistakeOf(error) });
      sayRefusal(error, answer?.command_line);
    }
  };
  return html`<form class="form" onSubmit=${onSubmit}>
    <div class="form-fields">
      <${DirectoryField} ...${props} />
      <${CommandField} ...${props} help=${t("form.command_help")} />
      <${OptionFields} ...${props} />
      <p class="quiet form-note"><${Others} text=${t(isCopy ? "form.copy_environment" : "form.edit_environment", { id })} /></p>
    </div>
    <div class="form-side">
      <${Outcome} answer=${answer} isCurrent=${isCurrent} isAway=${isAway} general=${said} others=${others}>
        ${!isChanged && !isCopy && html`<p class="quiet">${t("form.unchanged")}</p>`}
        <div class="buttons">
          <a class="button" href=${`/jobs/${id}`} onClick=${drop}>${t("cancel")}</a>
          <button type="submit" class="button first" disabled=${isBusy || !request}>${t(isCopy ? "form.submit_copy" : "form.save_changes")}</button>
        </div>
      <//>
    </div>
  </form>`;
}
