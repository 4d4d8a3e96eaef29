// @ts-check
/**
 * Keeps a registration up to date while something can happen to it without the visitor: asks the gateway at a rising
 * interval until its state is final, and at once when the page is looked at again.
 */
import { isFinal } from "./route.js";
import { get } from "./store.js";

/** The first question comes soon, because most payments are confirmed within a second or two. */
const FIRST = 500;
const GROWTH = 1.5;

/** A payment that is not confirmed by then takes its time; nobody notices five seconds. */
const LONGEST = 5_000;

/** What the staff look into is settled within minutes or hours. */
const LONGEST_BY_HAND = 30_000;

/** @typedef {(id: string) => Promise<void>} Ask */

let subject = "";
let wait = FIRST;
let timer = 0;
let asking = false;

/** @type {Ask} */
let ask = async () => {};

/**
 * Follows the registration, at the pace at which it was followed before unless it has moved.
 * @param {import("./contract").Registration | undefined} registration
 * @param {Ask} refresh
 */
export function follow(registration, refresh) {
  ask = refresh;
  const isMoving = registration && registration.state !== "open" && !isFinal(registration);
  const next = isMoving ? [registration.id, registration.state, registration.payment?.state].join() : "";
  if (next === subject) return;
  subject = next;
  wait = FIRST;
  plan();
}

function plan() {
  clearTimeout(timer);
  if (subject && !document.hidden) timer = setTimeout(question, wait);
}

async function question() {
  const { registration } = get();
  if (!registration || isFinal(registration) || asking) return;
  asking = true;
  await ask(registration.id).finally(() => (asking = false));
  wait = Math.min(wait * GROWTH, registration.state === "attention" ? LONGEST_BY_HAND : LONGEST);
  plan();
}

function lookAgain() {
  clearTimeout(timer);
  wait = FIRST;
  if (!document.hidden) question();
}

document.addEventListener("visibilitychange", lookAgain);
addEventListener("online", lookAgain);
