// @ts-check
/**
 * What the visitor has typed into a form and not sent, so that a reload loses nothing. Kept in sessionStorage, so in this
 * tab alone, for half an hour at most. Where that is forbidden or full, a reload loses what was typed.
 */
import { tab } from "../client/kept.js";

/** In ms, since the last change: the next person at a shared computer must not find them. */
export const KEPT_FOR = 30 * 60_000;

/** More digits than a phone number has: perhaps a card number, which is never kept. */
const CARD_NUMBER = /(?:\d[ -]?){14}/;

/**
 * @template Typed
 * @param {string} name
 */
function draftOf(name) {
  /** The same, where the browser forbids storage. @type {{ at: number, details: Typed } | undefined} */
  let memory;
  return {
    /** @param {Typed} details */
    keep(details) {
      memory = { at: Date.now(), details };
      if (CARD_NUMBER.test(JSON.stringify(details))) tab.drop(name);
      else tab.keep(name, memory);
    },

    /** @returns {Typed | undefined} */
    kept() {
      const { at, details } = tab.kept(name) ?? memory ?? {};
      if (Date.now() - at < KEPT_FOR) return details;
      this.drop();
      return undefined;
    },

    drop() {
      memory = undefined;
      tab.drop(name);
    },
  };
}

/** The personal details of a new sign-up. */
export const personDraft = /** @type {ReturnType<typeof draftOf<Partial<import("./contract").Person>>>} */ (draftOf("frontdesk.details"));

/** A withdrawal or a cancellation, until it is received. */
export const statementDraft = /** @type {ReturnType<typeof draftOf<{ kind: import("./statement.js").Kind, body: import("./contract").NewCancellation }>>} */ (draftOf("frontdesk.statement"));
