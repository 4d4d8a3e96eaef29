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

/** @param {Details} details */
export function keepDraft(details) {
  if (CARD_NUMBER.test(JSON.stringify(details))) dropDraft();
  else tab.keep(DRAFT, { at: Date.now(), details });
}

/** @returns {Details | undefined} */
export function draft() {
  const { at, details } = tab.kept(DRAFT) ?? {};
  if (Date.now() - at < KEPT_FOR) return details;
  dropDraft();
  return undefined;
}

export const dropDraft = () => tab.drop(DRAFT);
