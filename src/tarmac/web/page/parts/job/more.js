// What else can be done to a job: rarely used, so it is in a menu. Everything has its command.
import { html, useState } from "/page/lib/preact.js";
import { post, Refusal, session } from "/page/data/http.js";
import { isAtWork, isEnded, isWaiting } from "/page/data/store.js";
import { CopyCommand } from "/page/parts/bits.js";
import { perform, takeBack } from "/page/parts/command_button.js";
import { confirm, Dialog } from "/page/parts/dialog.js";
import { mayChange } from "/page/parts/job/rights.js";
import { say } from "/page/parts/toast.js";
import { go } from "/page/router/router.js";
import { shellCommand } from "/page/words/format.js";
import { t } from "/page/words/words.js";

/** @typedef {import("/page/parts/job/facts.js").WholeJob} WholeJob */

/** @param {WholeJob} job */
function startNow(job) {
  const command = `tarmac start ${job.id}`;
  const start = (/** @type {boolean} */ yes) => post(`/jobs/${job.id}/start`, { yes });
  return perform(command, async () => {
    try {
      await start(false);
    } catch (error) {
      if (!(error instanceof Refusal) || error.key !== "start.double_booking") throw error;
      const title = t("start.title", { id: job.id });
      const yes = await confirm({ title, text: [error.message], action: t("do.start"), command: `${command} --yes` });
      if (!yes) return null;
      await start(true);
    }
    return { text: t("did.start", { id: job.id }) };
  });
}

/** @param {WholeJob} job */
async function remove(job) {
  const command = `tarmac rm ${job.id}`;
  const question = { title: t("remove.title", { n: 1, id: job.id }), text: [t("remove.text", { n: 1 })], isDanger: true };
  if (!(await confirm({ ...question, action: t("do.remove"), command }))) return;
  await perform(command, async () => {
    await post("/jobs/rm", { ids: [String(job.id)] });
    go("/queue");
    return { text: t("did.remove", { n: 1, id: job.id }) };
  });
}

/** @param {{ job: WholeJob }} props */
export function More({ job }) {
  const [dialog, setDialog] = useState("");
  const [isOpen, setOpen] = useState(false);
  const isOwn = mayChange(job);
  const why = isOwn ? undefined : t("not_yours", { owner: job.owner });
  const close = () => setDialog("");
  const item = (/** @type {string} */ word, /** @type {() => unknown} */ act, /** @type {string} */ command = "") => html`<span class="split" key=${word}>
    <button type="button" class="button bare" disabled=${!isOwn} title=${why} onClick=${() => (setOpen(false), act())}>${t(word)}</button>
    ${command && isOwn && html`<${CopyCommand} command=${command} isBare />`}</span>`;
  const log = `/api/v1/jobs/${job.id}/log`;
  return html`<details class="menu" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary class="button">${t("do.more")}</summary>
    ${
      isOpen &&
      html`<div class="more-actions">
      ${isWaiting(job) && session.value?.is_admin && item("do.start", () => startNow(job), `tarmac start ${job.id}`)}
      ${isAtWork(job) && item("do.kill_with", () => setDialog("grace"))}
      ${item("do.labels", () => setDialog("labels"))}
      ${job.snapshot && html`<span class="split"><span class="command-name">${t("do.checkout")}</span><${CopyCommand} command=${`tarmac checkout ${job.id} job-${job.id}`} isBare /></span>`}
      ${job.attempt > 0 && !job.adopted && html`<a class="button bare" href=${log} download=${`tarmac-${job.id}.${job.attempt}.log`}>${t("do.download")}</a>`}
      ${(isEnded(job) || isWaiting(job)) && item("do.remove", () => remove(job), `tarmac rm ${job.id}`)}
    </div>`
    }
  </details>
  ${dialog === "grace" && html`<${KillWithGrace} job=${job} onClose=${close} />`}
  ${dialog === "labels" && html`<${Labels} job=${job} onClose=${close} />`}`;
}

/** @param {{ job: WholeJob, onClose: () => void }} props */
function KillWithGrace({ job, onClose }) {
  const [text, setText] = useState(String(Math.round(job.grace_s)));
  const isGood = /^\d{1,6}$/.test(text);
  const command = `tarmac kill ${job.id} --grace ${isGood ? text : "…"}s`;
  const kill = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!isGood) return;
    onClose();
    await perform(command, async () => {
      await post("/jobs/kill", { ids: [String(job.id)], grace_s: Number(text) });
      return { text: t("did.kill", { n: 1, id: job.id }) };
    });
  };
  return html`<${Dialog} title=${t("grace.title", { id: job.id })} onClose=${onClose}><form onSubmit=${kill}>
    <p><label>${t("grace.seconds")} <input class="field" inputmode="numeric" size="7" autofocus value=${text} aria-invalid=${!isGood}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)} /></label></p>
    ${!isGood && html`<p class="warning">${t("grace.bad")}</p>`}
    <p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>
    <div class="buttons"><button type="button" class="button" onClick=${onClose}>${t("cancel")}</button>
      <button class="button first danger" disabled=${!isGood}>${t("do.kill")}</button></div>
  </form><//>`;
}

/** The commands that would do the same. @param {WholeJob} job @param {string} name @param {string[]} tags @param {string} note */
function labelCommands(job, name, tags, note) {
  const commands = [];
  const added = tags.filter((tag) => !job.tags.includes(tag));
  const gone = job.tags.filter((tag) => !tags.includes(tag));
  if (name !== (job.name ?? "")) commands.push(["tarmac", "rename", String(job.id), name || "none"]);
  if (added.length || gone.length)
    commands.push(["tarmac", "tag", String(job.id), ...added.map((tag) => `+${tag}`), ...gone.flatMap((tag) => ["--remove", tag])]);
  if (note !== (job.note ?? "")) commands.push(["tarmac", "note", String(job.id), note || "none"]);
  return { added, gone, text: commands.map(shellCommand).join(" && ") };
}

/** What others change while it is open stays. @param {{ job: WholeJob, onClose: () => void }} props */
function Labels({ job: current, onClose }) {
  const [job] = useState({ ...current });
  const [name, setName] = useState(job.name ?? "");
  const [tagText, setTags] = useState(job.tags.join(", "));
  const [note, setNote] = useState(job.note ?? "");
  const [refusal, setRefusal] = useState(/** @type {Refusal | null} */ (null));
  const tags = tagText.split(",").map((tag) => tag.trim());
  const { added, gone, text: command } = labelCommands(job, name, [...new Set(tags.filter(Boolean))], note);
  const before = { name: job.name ?? "", note: job.note ?? "" };
  /** @param {typeof before} to @param {string[]} add_tags @param {string[]} remove_tags */
  const change = (to, add_tags, remove_tags) => {
    const changed = { ...(name !== before.name && { set_name: to.name || null }), ...(note !== before.note && { set_note: to.note || null }) };
    return post("/jobs/label", { ids: [String(job.id)], ...changed, add_tags, remove_tags });
  };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      if (command) await change({ name, note }, added, gone);
    } catch (error) {
      setRefusal(/** @type {Refusal} */ (error));
      return;
    }
    onClose();
    const undo = () => void takeBack(() => change(before, gone, added));
    if (command) say({ text: t("did.labels", { id: job.id }), command, undo });
  };
  const typed = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<${Dialog} title=${t("labels.title", { id: job.id })} onClose=${onClose}><form class="labels" onSubmit=${save}>
    <label>${t("labels.name")}<input class="field" autofocus value=${name} onInput=${typed(setName)} /></label>
    <label>${t("labels.tags")}<input class="field" value=${tagText} onInput=${typed(setTags)} /></label>
    <label>${t("labels.note")}<textarea class="field" rows="4" value=${note} onInput=${typed(setNote)}></textarea></label>
    ${refusal && html`<p class="problem" role="alert">${refusal.message} ${refusal.hint}</p>`}
    ${command && html`<p class="command"><code>${command}</code><${CopyCommand} command=${command} isBare /></p>`}
    <div class="buttons"><button type="button" class="button" onClick=${onClose}>${t("cancel")}</button>
      <button class="button first">${t("do.save")}</button></div>
  </form><//>`;
}
