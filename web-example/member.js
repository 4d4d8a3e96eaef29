// @ts-check
/**
 * What a logged-in member does, and what the page reads for them: as journey.js, for the
 * steps under /?me. Start reading at `change`, through which everything that changes something goes. When the gateway
 * takes the identity for over, so does the page.
 */
import * as api from "./api.js";
import { dropIdentity, keepIdentity } from "./identity.js";
import { intend } from "./intentions.js";
import { attempt, begun, carryOut } from "./journey.js";
import { get, set } from "./store.js";
import { text } from "./text.js";

/** Where the state of a move is kept across a reload, since no request asks for it: with whose it is, without a code. */
const MOVE = "frontdesk.transfer";

/** What a response to an entered code says of the code. */
const AFTER_CODE = /** @type {const} */ ({ code_expired: "expired", code_blocked: "blocked", no_code: "no_code" });

/** @type {ReturnType<typeof setTimeout> | undefined} */
let end;

/** @param {string} token of the club's login */
export function signIn(token) {
  set({ identity: keepIdentity(token), ended: undefined, me: undefined, consents: undefined, consentResults: undefined, consentRequests: {}, transfer: undefined });
  watchEnd();
}

/**
 * Forgets who the visitor is.
 * @param {import("./identity.js").Ending} why
 */
export function signOut(why) {
  clearTimeout(end);
  dropIdentity();
  if (why === "left") keepMove(undefined);
  set({ identity: undefined, ended: why, me: undefined, consents: undefined, consentResults: undefined, consentRequests: {}, transfer: keptMove() });
}

/** Ends the identity when its time is over, also after a sleep in which no timer ran. */
export function watchEnd() {
  clearTimeout(end);
  const { identity } = get();
  if (!identity) return;
  const left = identity.until - Date.now();
  if (left <= 0) return signOut("expired");
  end = setTimeout(watchEnd, left);
}

/**
 * Reads for the page, in the visitor's name.
 * @param {(token: string) => Promise<Partial<import("./store.js").State>>} ask its result goes into the store
 */
async function read(ask) {
  const { identity } = get();
  if (!identity) return;
  try {
    const found = await ask(identity.token);
    if (get().identity === identity) set(found);
  } catch (error) {
    if (!(error instanceof api.Problem)) throw error;
    if (error.code === "not_identified") signOut(get().me ? "expired" : "refused");
    else set({ problem: error, isStuck: true, waiting: false });
  }
}

/** Reads what the club knows of the visitor, once, and takes up a move that they are in the middle of. */
export const loadMe = () =>
  read(async (token) => {
    if (get().me) return {};
    const me = await api.getMe(token);
    const move = keptMove(me.number);
    return { me, transfer: move?.state === "signed" ? undefined : move };
  });

/** Reads the visitor's consents, once. */
export const loadConsents = () => read(async (token) => (get().consents ? {} : { consents: await api.listConsents(token) }));

/**
 * Does one thing in the visitor's name.
 * @param {import("./journey.js").Doing} doing
 * @param {(token: string) => Promise<boolean | void>} action
 */
async function change(doing, action) {
  const { identity } = get();
  if (!identity) return undefined;
  const problem = await attempt(doing, () => action(identity.token));
  if (problem?.code === "not_identified") {
    signOut("expired");
    set({ problem: undefined });
  }
  return problem;
}

/**
 * Notes a change of a consent that the visitor requests; `saveConsents` carries it out.
 * @param {import("./contract").Consent} consent
 * @param {boolean} authorized
 */
export function requestConsent({ id, authorized: now }, authorized) {
  const { [id]: _, ...others } = get().consentRequests;
  set({ consentRequests: authorized === now ? others : { ...others, [id]: authorized }, consentResults: undefined });
}

/** Saves the requested changes. One that failed stays requested, so that saving again retries it. */
export const saveConsents = () =>
  change("consents", async (token) => {
    const requests = get().consentRequests;
    const asked = Object.entries(requests).map(([id, authorized]) => ({ id, authorized }));
    const { items, receipt } = await api.changeConsents(token, { items: asked, wording: text.consents.wording });
    const now = new Map(items.flatMap(({ id, consent }) => (consent ? [[id, consent]] : [])));
    const failed = items.filter(({ code }) => code === "failed").map(({ id }) => [id, requests[id]]);
    const before = get().consents ?? { items: [], receipts: [] };
    set({
      consents: {
        items: before.items.map((consent) => now.get(consent.id) ?? consent),
        receipts: receipt ? [receipt, ...before.receipts] : before.receipts,
      },
      consentRequests: Object.fromEntries(failed),
      consentResults: items,
    });
  });

/**
 * Asks for the move to another club, and for its code; asked again, for a new code.
 * @param {string} clubId
 */
export const moveTo = (clubId) =>
  change("transfer", async (token) => {
    keepMove(await carryOut(intend("transfer", { clubId }), (one) => api.startTransfer(token, one)));
  });

/** Goes back to the choice of a club. The code that was sent is void as soon as another one is requested. */
export const chooseAgain = () => keepMove(undefined);

/** @param {string} code from the SMS */
export async function confirmMove(code) {
  const problem = await change("sign", async (token) => {
    const move = await carryOut(intend("transfer.sign", { code }, undefined, { secret: true }), (one) => api.signTransfer(token, one));
    keepMove(move);
    if (move.state === "signed") signOut("moved");
  });
  if (problem) learn(problem.code);
  return problem;
}

/**
 * Takes from a problem what it says of the code: no request reads it.
 * @param {string} code the problem's
 */
function learn(code) {
  const { transfer } = get();
  if (!transfer) return;
  const state = AFTER_CODE[/** @type {keyof typeof AFTER_CODE} */ (code)];
  if (state) keepMove({ ...transfer, state, attemptsLeft: undefined });
  if (code === "code_wrong") keepMove({ ...transfer, attemptsLeft: Math.max(1, (transfer.attemptsLeft ?? 1) - 1) });
}

/**
 * Starts a registration as who the visitor is: the club asks for no details.
 * @param {import("./contract").NewItem} item
 */
export const startKnown = (item) =>
  change("start", async (token) => {
    const { club = "" } = get().place;
    begun(await carryOut(intend("start.known", { clubId: club, items: [item] }), (one) => api.startRegistration(one, token)));
  });

/**
 * @param {string} [number] whose it has to be; left out, anybody's
 * @returns {import("./contract").Transfer | undefined}
 */
export function keptMove(number) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(MOVE) ?? "null");
    return kept && (number === undefined || kept.of === number) ? kept.move : undefined;
  } catch {
    return get().transfer;
  }
}

/** @param {import("./contract").Transfer | undefined} move */
function keepMove(move) {
  const of = get().me?.number;
  set({ transfer: move });
  try {
    if (move) sessionStorage.setItem(MOVE, JSON.stringify({ of, move }));
    else sessionStorage.removeItem(MOVE);
  } catch {
    // Storage is forbidden: the move's state then lives as long as the page.
  }
}
