// @ts-check
/**
 * Keeps a registration up to date while something can happen to it without the visitor: asks the gateway at a rising
 * interval until its state is final, and at once when the page is looked at again.
 */
import { get } from "./store.js";

/** The first question comes soon, because most payments are confirmed within a second or two. */
const FIRST = 500;
const GROWTH = 1.5;

/** A payment that is not confirmed by then takes its time; nobody notices five seconds. */
const LONGEST = 5_000;

/** Doubt is settled within minutes or hours, by evidence or by a person. */
const LONGEST_IN_DOUBT = 30_000;

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
  const next = registration?.state === "paying" ? `${registration.id} ${registration.payment?.state}` : "";
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
  if (!registration || asking) return;
  asking = true;
  await ask(registration.id).finally(() => (asking = false));
  wait = Math.min(wait * GROWTH, subject.endsWith("in_doubt") ? LONGEST_IN_DOUBT : LONGEST);
  plan();
}

function lookAgain() {
  clearTimeout(timer);
  wait = FIRST;
  if (!document.hidden) question();
}

document.addEventListener("visibilitychange", lookAgain);
addEventListener("online", lookAgain);
