// @ts-check
/**
 * Keeps a registration up to date with changes made elsewhere: at the processor, in another tab, on another device.
 * The gateway sends every change as it happens. The page also polls: often while a payment is in progress, because each
 * poll makes the gateway check the processor, and rarely otherwise, in case the stream died unnoticed. It polls at once
 * when the page is visible again, the connection is back, or the computer has slept.
 *
 * @import { Problem } from "./request.js"
 * @import { Registration } from "./openapi.js"
 * @import { Client } from "./types.js"
 */

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

/** The steps at which a registration changes only by what the visitor does. */
const STILL = ["person", "items", "guardian", "fix_cart", "mandate", "code", "ready"];

/** @param {Registration} registration whether it changes without the visitor's doing */
const isMoving = ({ step, payment, mandate }) => !STILL.includes(step) || payment?.state === "in_doubt" || mandate?.state === "unconfirmed";

/** Whether the page is visible and online. */
const isAwake = () => !globalThis.document?.hidden && globalThis.navigator?.onLine !== false;

/**
 * @typedef {object} Listener
 * @property {(registration: Registration) => void} changed shows what the registration is now; the follower knows it already
 * @property {(problem: Problem) => void} [gone] this browser has no access to the registration, or no longer
 * @property {(id: string) => Promise<void>} [read] reads the registration and shows it, instead of a poll of the client's own
 * @property {() => boolean} [isBusy] whether a response to the visitor will be shown soon: until then, changes wait
 */

/**
 * Follows what the page shows.
 * @param {Client} client
 * @param {Listener} listener
 */
export function follow(client, { changed, gone, read, isBusy = () => false }) {
  /** @type {Registration | undefined} */
  let shown;
  let subject = "";
  let wait = FIRST;
  let isPolling = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** A change arrived during a request of the visitor, whose response may be older or newer: poll after it. */
  let missed = false;

  /** The registration of the stream. */
  let streamed = "";
  /** @type {(() => void) | undefined} closes the stream */
  let stop;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let streamTimer;

  let ticked = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticker;

  /**
   * Takes what the page shows, whenever that changes: follows it, at the same pace as before unless it has changed.
   * @param {Registration | undefined} registration none if the page shows none
   */
  function show(registration) {
    shown = registration?.final ? undefined : registration;
    watch(!!shown);
    stream();
    const next = shown ? [shown.id, shown.state, shown.payment?.state, shown.mandate?.state].join() : "";
    if (next !== subject) {
      subject = next;
      wait = FIRST;
      plan();
    }
    if (missed && !isBusy()) {
      missed = false;
      again();
    }
  }

  /** Opens a new stream and polls, because the previous stream may be dead or in another language. */
  function restart() {
    stop?.();
    stop = undefined;
    streamed = "";
    wait = FIRST;
    stream();
    again();
  }

  function plan() {
    clearTimeout(timer);
    if (!shown || !isAwake()) return;
    timer = setTimeout(again, Math.max(client.rest(), isMoving(shown) ? wait : stop ? WITH_STREAM : WITHOUT_STREAM));
  }

  async function again() {
    clearTimeout(timer);
    if (!shown || isPolling || !isAwake()) return;
    if (isBusy()) return plan();
    isPolling = true;
    const longest = shown.step === "with_staff" ? LONGEST_BY_HAND : LONGEST;
    await (read ?? poll)(shown.id).finally(() => (isPolling = false));
    wait = Math.min(wait * GROWTH, longest);
    plan();
  }

  /** @param {string} id */
  async function poll(id) {
    try {
      const registration = await client.request("GET", "/v1/registrations/{id}", { path: { id }, once: true });
      if (registration.version !== shown?.version) take(registration);
    } catch (/** @type {any} */ problem) {
      if (problem.gone === undefined) throw problem;
      if (!problem.gone) return; // the next poll may succeed
      show(undefined);
      gone?.(problem);
    }
  }

  /** @param {Registration} registration */
  function take(registration) {
    if (registration.id !== shown?.id || registration.sequence < shown.sequence) return; // a newer response has overtaken this one
    show(registration);
    changed(registration);
  }

  /** Opens the registration's stream, once; only while the page is visible, because browsers limit connections. */
  function stream() {
    const wanted = shown && isAwake() ? shown.id : "";
    if (wanted === streamed) return;
    stop?.();
    clearTimeout(streamTimer);
    streamed = wanted;
    stop = wanted ? client.stream(wanted, { changed: receive, closed: () => refused(wanted) }) : undefined;
  }

  /** @param {Registration} registration */
  function receive(registration) {
    if (isBusy()) missed = true;
    // The event may be older than the visitor's last attempt.
    else if (registration.payment?.state === "declined") again();
    else take(registration);
  }

  /**
   * Polls at once: a stream that has ended or is refused does not say whether the registration is gone.
   * @param {string} id
   */
  function refused(id) {
    stop = undefined;
    again();
    streamTimer = setTimeout(() => {
      if (streamed !== id) return;
      streamed = "";
      stream();
    }, STREAM_AGAIN * (1 + Math.random())); // pages that lost a gateway do not return together
  }

  /** @param {boolean} on whether to notice that the page wakes up */
  function watch(on) {
    if (on === !!ticker) return;
    clearInterval(ticker);
    ticked = Date.now();
    ticker = on ? setInterval(tick, TICK) : undefined;
    const turn = on ? globalThis.addEventListener : globalThis.removeEventListener;
    turn?.("online", restart);
    turn?.("offline", stream);
    globalThis.document?.[on ? "addEventListener" : "removeEventListener"]("visibilitychange", restart);
  }

  function tick() {
    const now = Date.now();
    if (now - ticked > SLEPT) restart();
    ticked = now;
  }

  return { show, restart };
}
