// @ts-check
/**
 * Keeps a registration up to date with changes made elsewhere: at the processor, in another tab, on another device.
 * The gateway sends every change as it happens. The page also polls: often while a payment is in progress, because each
 * poll makes the gateway check the processor, and rarely otherwise, in case the stream died unnoticed. It polls at once
 * when the page is visible again, the connection is back, or the computer has slept.
 */
import { followRegistration, restBeforePoll } from "./api.js";
import { isFinal, isPaying } from "./route.js";
import { get } from "./store.js";

/** The first poll comes soon, because most payments are confirmed within a second or two. */
const FIRST = 500;
const GROWTH = 1.5;

/** A payment that is not confirmed by then is slow; five more seconds go unnoticed. */
const LONGEST = 5_000;

/** Staff take minutes or hours to complete a registration. */
const LONGEST_BY_HAND = 30_000;

/** The visitor changes an open registration in this tab; these polls catch another tab's changes, with a stream and without. */
const WITH_STREAM = 60_000;
const WITHOUT_STREAM = 10_000;

/** The pause before a refused stream is opened again. */
const STREAM_AGAIN = 15_000;

/** The clock is read this often. If it has moved by more than SLEPT, the computer has slept. */
const TICK = 5_000;
const SLEPT = 20_000;

/**
 * @typedef {object} Listener
 * @property {(id: string) => Promise<void>} poll reads the registration again
 * @property {(registration: import("./contract").Registration) => void} changed receives what the gateway has sent
 */

let subject = "";
let wait = FIRST;
let timer = 0;
let isPolling = false;

/** A change arrived during a request of the visitor, whose response may be older or newer: poll after it. */
let missed = false;

/** The stream and its registration. */
let streamed = "";
let stop = () => {};
let isStreaming = false;
let streamTimer = 0;

/** @type {Listener} */
let listener = { poll: async () => {}, changed: () => {} };

/**
 * Follows the registration, at the same pace as before unless it has changed.
 * @param {import("./contract").Registration | undefined} registration
 * @param {Listener} callbacks
 */
export function follow(registration, callbacks) {
  listener = callbacks;
  const isLive = registration && !isFinal(registration);
  stream(isLive ? registration.id : "");
  const next = isLive ? [registration.id, registration.state, registration.payment?.state, registration.mandate?.state].join() : "";
  if (next !== subject) {
    subject = next;
    wait = FIRST;
    plan();
  }
  if (missed && !get().busy) {
    missed = false;
    poll();
  }
}

/** @param {import("./contract").Registration} registration whether it changes without the visitor's doing */
const isMoving = (registration) => isPaying(registration) || registration.mandate?.state === "unconfirmed";

/** Whether the page is visible and online. */
const isAwake = () => !document.hidden && navigator.onLine;

function plan() {
  clearTimeout(timer);
  const { registration } = get();
  if (!subject || !registration || !isAwake()) return;
  const quiet = isStreaming ? WITH_STREAM : WITHOUT_STREAM;
  timer = setTimeout(poll, Math.max(restBeforePoll(), isMoving(registration) ? wait : quiet));
}

async function poll() {
  clearTimeout(timer);
  const { registration, busy } = get();
  if (!registration || isFinal(registration) || isPolling || !isAwake()) return;
  if (busy) return plan();
  isPolling = true;
  await listener.poll(registration.id).finally(() => (isPolling = false));
  wait = Math.min(wait * GROWTH, registration.step === "with_staff" ? LONGEST_BY_HAND : LONGEST);
  plan();
}

/**
 * Opens the registration's stream, once; only while the page is visible, because browsers limit connections.
 * @param {string} id none when it is empty
 */
function stream(id) {
  const wanted = isAwake() ? id : "";
  if (wanted === streamed) return;
  stop();
  clearTimeout(streamTimer);
  streamed = wanted;
  stop = () => {};
  isStreaming = wanted !== "";
  if (wanted) stop = followRegistration(wanted, { changed: take, closed: () => refused(wanted) });
}

/** @param {import("./contract").Registration} registration */
function take(registration) {
  if (get().busy) missed = true;
  // The event may be older than the visitor's last attempt.
  else if (registration.payment?.state === "declined") poll();
  else listener.changed(registration);
}

/** @param {string} id */
function refused(id) {
  isStreaming = false;
  plan();
  streamTimer = setTimeout(() => {
    if (streamed !== id) return;
    streamed = "";
    stream(id);
  }, STREAM_AGAIN * (1 + Math.random())); // pages that lost a gateway do not return together
}

/** Opens a new stream and polls, because the previous stream may be dead or in another language. */
export function restart() {
  stop();
  streamed = "";
  wait = FIRST;
  const { registration } = get();
  stream(registration && !isFinal(registration) ? registration.id : "");
  poll();
}

let ticked = Date.now();
setInterval(() => {
  const now = Date.now();
  if (now - ticked > SLEPT) restart();
  ticked = now;
}, TICK);

document.addEventListener("visibilitychange", restart);
addEventListener("online", restart);
addEventListener("offline", () => stream(""));
