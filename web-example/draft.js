// @ts-check
/**
 * The personal details that the visitor has typed and not sent, so that a reload loses nothing. Kept in sessionStorage, so
 * in this tab alone, for half an hour at most. Where that is forbidden or full, a reload loses what was typed.
 */
import { tab } from "./storage.js";

/** @typedef {Partial<import("./contract").Person>} Details */

const DRAFT = "frontdesk.details";

/** In ms, since the last change: the next person at a shared computer must not find them. */
export const KEPT_FOR = 30 * 60_000;

/** More digits than a phone number has: perhaps a card number, which is never kept. */
const CARD_NUMBER = /(?:\d[ -]?){14}/;

/** The same, where the browser forbids storage. @type {{ at: number, details: Details } | undefined} */
let memory;

/** @param {Details} details */
export function keepDraft(details) {
  memory = { at: Date.now(), details };
  if (CARD_NUMBER.test(JSON.stringify(details))) tab.drop(DRAFT);
  else tab.keep(DRAFT, memory);
}

/** @returns {Details | undefined} */
export function draft() {
  const { at, details } = tab.kept(DRAFT) ?? memory ?? {};
  if (Date.now() - at < KEPT_FOR) return details;
  dropDraft();
  return undefined;
}

export function dropDraft() {
  memory = undefined;
  tab.drop(DRAFT);
}
