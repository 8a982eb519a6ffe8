// The event stream: one for all tabs of a browser, because a browser opens six connections to a server at most.
//
// The tab that holds the lock reads the stream and passes every event on to the other tabs. A hidden tab lets go of the
// lock and reads nothing; when it is shown again, it resumes where it was.
import { effect, signal } from "/page/lib/signals.js";
import { API, Refusal, send, session } from "/page/data/http.js";
import { readFirst, readRest } from "/page/data/lists.js";
import { readEvents } from "/page/data/sse.js";
import { apply } from "/page/data/events.js";
import { language } from "/page/words/words.js";

const LOCK = "tarmac-events";
const SILENCE_MS = 40_000; // the server sends a ping every 15 seconds
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 3000;

/** @typedef {import("/page/data/sse.js").Message} Message */

/** Since when the page is cut off from the server, in milliseconds since 1970; null while it is up to date. */
export const cutSince = signal(/** @type {number | null} */ (null));

/** Counts up when answers may be missing or old: the page is connected again, or it missed events. */
export const resumed = signal(0);
let wasCut = false;
effect(() => {
  const isCut = cutSince.value !== null;
  if (wasCut && !isCut) resumed.value = resumed.peek() + 1;
  wasCut = isCut;
});

const channel = new BroadcastChannel("tarmac-events");
let lastEvent = /** @type {string | null} */ (null);
let isReading = false; // the lists; events that arrive meanwhile are newer
/** @type {Message[]} */
let held = [];
let older = new AbortController(); // of the lists that are being read
let heardAt = Date.now();
let spoken = language.peek();

/** Follow the stream while a user is logged in and the tab is visible. */
export function startStream() {
  const isVisible = signal(document.visibilityState === "visible");
  document.addEventListener("visibilitychange", () => (isVisible.value = document.visibilityState === "visible"));
  window.addEventListener("pagehide", () => (isVisible.value = false));
  window.addEventListener("pageshow", () => (isVisible.value = document.visibilityState === "visible"));
  channel.addEventListener("message", ({ data }) => hear(data));
  effect(() => {
    if (!session.value || !isVisible.value) return undefined;
    if (spoken !== language.value) lastEvent = null; // sentences of the server are in the reader's language
    spoken = language.value;
    const ending = new AbortController();
    void follow(ending.signal);
    return () => ending.abort();
  });
}

/** What another tab passes on. @param {any} data */
function hear(data) {
  if (document.visibilityState !== "visible") return;
  if (data.kind === "events") take(data.messages);
  else if (data.kind === "cut") cutSince.value = data.since;
}

/** @param {AbortSignal} ending */
async function follow(ending) {
  try {
    const isLeader = await navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => {
      if (lock) await lead(ending);
      return lock !== null;
    });
    if (isLeader || ending.aborted) return;
    await readLists(ending); // the events of the leading tab reach this one from now on
    await navigator.locks.request(LOCK, { signal: ending }, () => lead(ending));
  } catch (error) {
    if (!ending.aborted) throw error;
  }
}

/** @param {AbortSignal} ending */
async function lead(ending) {
  let pause = FIRST_PAUSE_MS;
  while (!ending.aborted) {
    try {
      await readStream(ending, () => (pause = FIRST_PAUSE_MS));
    } catch (error) {
      if (ending.aborted) break;
      if (!(error instanceof Refusal)) console.warn(error);
    }
    if (!ending.aborted) setCut(cutSince.value ?? Date.now());
    await delay(pause, ending);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** One connection, until it breaks. @param {AbortSignal} ending @param {() => void} opened */
async function readStream(ending, opened) {
  const broken = new AbortController();
  const stop = () => broken.abort();
  ending.addEventListener("abort", stop);
  heardAt = Date.now();
  const watch = setInterval(() => Date.now() - heardAt > SILENCE_MS && stop(), 5000);
  try {
    /** @type {Record<string, string>} */
    const headers = lastEvent === null ? {} : { "Last-Event-ID": lastEvent };
    const answer = await send("GET", `${API}/events?live=1`, { headers, signal: broken.signal });
    opened();
    setCut(null);
    if (lastEvent === null) void readLists(ending);
    await readEvents(answer, (messages) => {
      heardAt = Date.now();
      channel.postMessage({ kind: "events", messages });
      take(messages);
    });
  } finally {
    clearInterval(watch);
    ending.removeEventListener("abort", stop);
  }
}

/** @param {Message[]} messages */
function take(messages) {
  if (isReading) {
    held.push(...messages);
    return;
  }
  for (const message of messages) {
    if (message.id !== null) lastEvent = message.id;
    if (message.kind === "missed") void readLists(new AbortController().signal).then(() => (resumed.value += 1));
    else apply(message.kind, JSON.parse(message.data));
  }
}

/** Read all lists; events that arrive meanwhile are applied afterwards. @param {AbortSignal} ending */
async function readLists(ending) {
  if (isReading) return;
  isReading = true;
  older.abort();
  const reading = (older = new AbortController());
  const signal = AbortSignal.any([ending, reading.signal]);
  try {
    const rest = await readFirst(signal).finally(takeHeld);
    await readRest(rest, signal);
  } catch (error) {
    if (!signal.aborted) {
      if (!(error instanceof Refusal)) console.warn(error);
      lastEvent = null; // so that the lists are read once the server answers
      cutSince.value ??= Date.now();
    }
  }
}

function takeHeld() {
  isReading = false;
  const late = held;
  held = [];
  take(late);
}

/** @param {number | null} since */
function setCut(since) {
  cutSince.value = since;
  channel.postMessage({ kind: "cut", since });
}

/** @param {number} ms @param {AbortSignal} ending @returns {Promise<void>} */
function delay(ms, ending) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ending.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
