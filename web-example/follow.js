// @ts-check
/**
 * Keeps a registration up to date with what happens to it elsewhere: at the processor, in another tab, on another device.
 * The gateway sends every change as it happens; beside that it is asked, often while a payment is under way, since to be
 * asked lets it look at the processor, and rarely otherwise, for what a stream that died unnoticed did not bring. Asked
 * at once is when the page is looked at again, the connection is back, or the computer has slept.
 */
import { followRegistration } from "./api.js";
import { isFinal } from "./route.js";
import { get } from "./store.js";

/** The first question comes soon, because most payments are confirmed within a second or two. */
const FIRST = 500;
const GROWTH = 1.5;

/** A payment that is not confirmed by then takes its time; nobody notices five seconds. */
const LONGEST = 5_000;

/** What the staff look into is settled within minutes or hours. */
const LONGEST_BY_HAND = 30_000;

/** An open registration changes in the visitor's own hands; this is for the other tab, beside the stream and without. */
const BESIDE_STREAM = 60_000;
const WITHOUT_STREAM = 10_000;

/** The pause after which a stream that the gateway refused is tried again. */
const STREAM_AGAIN = 15_000;

/** A clock that is looked at so often has jumped when it is this much further: the computer has slept. */
const TICK = 5_000;
const SLEPT = 20_000;

/**
 * @typedef {object} Listener
 * @property {(id: string) => Promise<void>} ask reads the registration again
 * @property {(registration: import("./contract").Registration) => void} changed takes what the gateway has sent
 */

let subject = "";
let wait = FIRST;
let timer = 0;
let asking = false;

/** What has come while the visitor had something under way, whose own response may be older or newer: ask again after it. */
let missed = false;

/** The stream, and whose it is. */
let streamed = "";
let stop = () => {};
let isStreaming = false;
let streamTimer = 0;

/** @type {Listener} */
let listener = { ask: async () => {}, changed: () => {} };

/**
 * Follows the registration, at the pace at which it was followed before unless it has moved.
 * @param {import("./contract").Registration | undefined} registration
 * @param {Listener} told
 */
export function follow(registration, told) {
  listener = told;
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
    question();
  }
}

/** @param {import("./contract").Registration} registration whether something is under way that nobody here does */
const isMoving = ({ state, mandate }) => state !== "open" || mandate?.state === "unconfirmed";

/** Whether somebody looks, and there is a connection to ask through. */
const isAwake = () => !document.hidden && navigator.onLine;

function plan() {
  clearTimeout(timer);
  const { registration } = get();
  if (!subject || !registration || !isAwake()) return;
  const quiet = isStreaming ? BESIDE_STREAM : WITHOUT_STREAM;
  timer = setTimeout(question, isMoving(registration) ? wait : quiet);
}

async function question() {
  clearTimeout(timer);
  const { registration, busy } = get();
  if (!registration || isFinal(registration) || asking || !isAwake()) return;
  if (busy) return plan();
  asking = true;
  await listener.ask(registration.id).finally(() => (asking = false));
  wait = Math.min(wait * GROWTH, registration.state === "attention" ? LONGEST_BY_HAND : LONGEST);
  plan();
}

/**
 * Opens the registration's stream, once; browsers have few connections to share, so not while nobody looks.
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
  }, STREAM_AGAIN);
}

/** Starts anew: whatever was open may be dead. */
function lookAgain() {
  stop();
  streamed = "";
  wait = FIRST;
  const { registration } = get();
  stream(registration && !isFinal(registration) ? registration.id : "");
  question();
}

let ticked = Date.now();
setInterval(() => {
  const now = Date.now();
  if (now - ticked > SLEPT) lookAgain();
  ticked = now;
}, TICK);

document.addEventListener("visibilitychange", lookAgain);
addEventListener("online", lookAgain);
addEventListener("offline", () => stream(""));
