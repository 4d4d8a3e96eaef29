// @ts-check
/** What the visitor does about a contract that they have: withdraw from it or cancel it, in two steps and without an account. */
import { intend } from "../client/kept.js";
import * as api from "./api.js";
import { statementDraft } from "./draft.js";
import { attempt } from "./journey.js";
import { get, set } from "./store.js";

/** @typedef {"withdrawal" | "cancellation"} Kind */

/** The kinds of statements, in the order of their links. */
export const KINDS = /** @type {const} */ (["withdrawal", "cancellation"]);

/**
 * The first step: states what the visitor has entered. The page shows it again, to be confirmed.
 * @param {Kind} kind
 * @param {import("./contract").NewCancellation} body of a withdrawal, without what only a cancellation has
 */
export const state = (kind, body) =>
  attempt("state", async () => {
    const { identity } = get();
    const stated = await api.stateStatement(kind, intend(kind, body, { after: identity?.token, secret: true }), identity?.token);
    set({ statement: { kind, stated } });
  });

/** The second step: from now on, the club has the statement. Confirming again changes nothing. */
export const confirmStatement = () =>
  attempt("confirm", async () => {
    const { statement } = get();
    if (!statement) return;
    const received = await api.confirmStatement(statement.kind, statement.stated.id);
    statementDraft.drop();
    set({ statement: { ...statement, received } });
  });

/** Returns to the form, which has what was entered. */
export function correctStatement() {
  set({ statement: undefined });
}
