// Requests to the server of the page, with the session's token and the reader's language.
import { signal } from "/page/lib/signals.js";
import { language } from "/page/words/words.js";

export const API = "/api/v1";

/**
 * @typedef {{ user: string, is_admin: boolean, csrf: string }} Session
 * @typedef {{ code: string, key: string, message: string, hint: string | null }} Problem
 */

/** Who is logged in. Undefined until that is known, null if nobody is. */
export const session = signal(/** @type {Session | null | undefined} */ (undefined));

/** An answer that says no. `status` is 0 if the server did not answer. */
export class Refusal extends Error {
  /** @param {number} status @param {Problem} problem */
  constructor(status, problem) {
    super(problem.message);
    this.status = status;
    this.key = problem.key;
    this.hint = problem.hint;
  }
}

/**
 * One request. Throws a Refusal with the server's own sentence.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} [options]
 * @returns {Promise<Response>}
 */
export async function send(method, path, options = {}) {
  /** @type {Record<string, string>} */
  const headers = {
    "Accept-Language": language.value,
    "Tarmac-Zone": Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...options.headers,
  };
  if (method !== "GET") {
    headers["Tarmac-Csrf"] = session.value?.csrf ?? "";
    headers["Content-Type"] = "application/json";
  }
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, signal: options.signal, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Refusal(0, { code: "unavailable", key: "page.no_answer", message: String(error), hint: null });
  }
  if (answer.ok) return answer;
  throw new Refusal(answer.status, await problemOf(answer));
}

/** @param {Response} answer @returns {Promise<Problem>} */
async function problemOf(answer) {
  try {
    const problem = (await answer.json()).error;
    if (problem.key === "page.not_logged_in") session.value = null;
    return problem;
  } catch {
    return { code: "internal", key: "page.odd_answer", message: `${answer.status} ${answer.statusText}`, hint: null };
  }
}

/** @param {string} path @param {Record<string, unknown>} [query] @param {AbortSignal} [signal] */
export async function get(path, query = {}, signal) {
  return (await send("GET", API + path + queryText(query), { signal })).json();
}

/** @param {string} path @param {unknown} body */
export const post = (path, body) => change("POST", path, body);

/** @param {string} path @param {unknown} body */
export const put = (path, body) => change("PUT", path, body);

/** @param {string} path */
export const remove = (path) => change("DELETE", path);

/**
 * A change. It carries a key, so that a repetition after a lost answer is carried out once.
 * @param {string} method @param {string} path @param {unknown} [body]
 */
export async function change(method, path, body) {
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await (await send(method, API + path, { body, headers })).json();
    } catch (error) {
      const isLost = error instanceof Refusal && error.status === 0;
      if (!isLost || attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300 * 2 ** attempt));
    }
  }
}

/** @param {Record<string, unknown>} query */
export function queryText(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** Ask who is logged in. */
export async function findSession() {
  try {
    session.value = await (await send("GET", "/session")).json();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 0) throw error;
    session.value = null;
  }
}

/** Log in with the word of a one-time link. @param {string} word */
export async function logIn(word) {
  await send("POST", "/login", { body: { link: word } });
  await findSession();
}

export async function logOut() {
  await send("POST", "/logout", { body: {} });
  session.value = null;
}
