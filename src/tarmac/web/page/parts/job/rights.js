// Whose job it is. The server decides; the page only does not offer what it would refuse.
import { session } from "/page/data/http.js";

/** @typedef {{ owner: string }} Owned */

/** @param {Owned} job */
export function mayChange(job) {
  const who = session.value;
  return Boolean(who && (who.is_admin || who.user === job.owner));
}
