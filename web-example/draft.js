// @ts-check
/**
 * The personal details that the visitor has typed and not sent, so that a reload loses nothing. Kept in sessionStorage, so
 * in this tab alone, for half an hour at most.
 */

/** @typedef {Partial<import("./contract").Person>} Details */

const DRAFT = "frontdesk.details";

/** In ms, since the last change: the next person at a shared computer must not find them. */
const KEPT_FOR = 30 * 60_000;

/** More digits than a phone number has: perhaps a card number, which is never kept. */
const CARD_NUMBER = /(?:\d[ -]?){14}/;

/** @param {Details} details */
export function keepDraft(details) {
  const kept = JSON.stringify({ at: Date.now(), details });
  try {
    if (!CARD_NUMBER.test(JSON.stringify(details))) sessionStorage.setItem(DRAFT, kept);
    else dropDraft();
  } catch {
    // Storage is forbidden or full: a reload then loses what was typed.
  }
}

/** @returns {Details} */
export function draft() {
  try {
    const { at, details } = JSON.parse(sessionStorage.getItem(DRAFT) ?? "{}");
    if (Date.now() - at < KEPT_FOR) return details ?? {};
  } catch {
    // Storage is forbidden, or holds something else.
  }
  dropDraft();
  return {};
}

export function dropDraft() {
  try {
    sessionStorage.removeItem(DRAFT);
  } catch {
    // Storage is forbidden: nothing is kept.
  }
}
