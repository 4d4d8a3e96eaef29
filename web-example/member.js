// @ts-check
/**
 * A logged-in member's actions, and what the page reads for them: like journey.js, for the
 * steps under /?me. Start reading at `change`, which runs every change. When the gateway
 * considers the identity expired, so does the page.
 */
import { browser, endLeftSessions, intend, settle } from "../client/kept.js";
import * as api from "./api.js";
import { dropIdentity, keepIdentity } from "./identity.js";
import { attempt, begun, endSessions, MEMBER, refuses } from "./journey.js";
import { attributed, go } from "./route.js";
import { get, set } from "./store.js";
import { text } from "./text.js";

/** @type {ReturnType<typeof setTimeout> | undefined} */
let end;

/** @param {string} token from the club's login */
export function signIn(token) {
  set({ identity: keepIdentity(token), inProgress: [], ended: undefined, me: undefined, memberships: undefined, consents: undefined, consentResults: undefined, consentRequests: {}, transfer: undefined });
  watchEnd();
}

/**
 * Forgets who the visitor is.
 * @param {import("./identity.js").Ending} why
 */
export function signOut(why) {
  clearTimeout(end);
  dropIdentity();
  const transfer = why === "moved" ? get().transfer : undefined;
  if (get().place.me) set({ catalogue: undefined }); // it has the member's prices
  set({ identity: undefined, ended: why, me: undefined, memberships: undefined, consents: undefined, consentResults: undefined, consentRequests: {}, transfer });
}

/** Logs the visitor out, such as on a shared computer: their registrations continue only on other devices. */
export const logOut = () =>
  attempt("leave", async () => {
    signOut((await endSessions()) ? "left" : "unfinished");
  });

/** Ends what a logout could not end, and says so when it has. */
export async function finishLogOut() {
  if ((await endLeftSessions(api.client)) && get().ended === "unfinished") set({ ended: "left" });
}

/** Ends the identity when it expires, even after a sleep in which no timer ran. */
export function watchEnd() {
  clearTimeout(end);
  const { identity } = get();
  if (!identity) return;
  const left = identity.until - Date.now();
  if (left <= 0) return signOut("expired");
  end = setTimeout(watchEnd, left);
}

/**
 * Reads for the page, as the visitor.
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

/**
 * What the visitor has at the club; undefined if that cannot be read, so that the page shows the rest.
 * @param {string} token
 */
async function membershipsOf(token) {
  try {
    return (await api.listMemberships(token)).items;
  } catch (error) {
    if (error instanceof api.Problem && error.code !== "not_identified") return undefined;
    throw error;
  }
}

/**
 * Reads what the club knows of the visitor, once; for their own page also their memberships, each time. If another person was the last to log in, in any tab, the sessions of
 * that person's sign-ups end as at a logout: only now, because a stranger's link can have a made-up token.
 * @param {boolean} isOwnPage
 */
export const loadMe = (isOwnPage) =>
  read(async (token) => {
    const known = get().me;
    const [me, memberships] = await Promise.all([known ?? api.getMe(token), isOwnPage ? membershipsOf(token) : get().memberships]);
    if (known) return { memberships };
    const last = browser.kept(MEMBER);
    if (last && last !== me.number) await endSessions();
    browser.keep(MEMBER, me.number);
    return { me, memberships };
  });

/** Resumes the visitor's move in progress. */
export const loadTransfer = () => read(async (token) => (get().transfer ? {} : { transfer: await moveOf(token) }));

/**
 * The move in progress.
 * @param {string} token
 */
async function moveOf(token) {
  const move = await api.getTransfer(token);
  settle("transfer"); // the move shows what an earlier request did, so the next one is another
  return move?.state === "signed" ? undefined : move;
}

/** Reads the visitor's consents, once. */
export const loadConsents = () => read(async (token) => (get().consents ? {} : { consents: await api.listConsents(token) }));

/**
 * Does one thing as the visitor.
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

/** Saves the requested changes: those of a new member by their registration, else those of the logged-in visitor. */
export function saveConsents() {
  const { registration } = get().place;
  if (registration) return attempt("consents", () => save((body) => api.changeBuyersConsents(registration, body)));
  return change("consents", (token) => save((body) => api.changeConsents(token, body)));
}

/**
 * Sends the requested changes. One that failed stays requested, so that saving again retries it.
 * @param {(body: import("./contract").ChangeConsents) => Promise<import("./contract").ConsentChanges>} send
 */
async function save(send) {
  const requests = get().consentRequests;
  const asked = Object.entries(requests).map(([id, authorized]) => ({ id, authorized }));
  const { items, receipt } = await send({ items: asked, wording: text.consents.wording });
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
}

/**
 * Requests the move to another club, and its code; repeated, a new code.
 * @param {string} clubId
 */
export const moveTo = (clubId) =>
  change("transfer", async (token) => {
    set({ transfer: await api.startTransfer(token, intend("transfer", { clubId })) });
  });

/** Goes back to the choice of a club. The code that was sent is void as soon as another one is requested. */
export const chooseAgain = () => set({ transfer: undefined, target: undefined });

/** @param {string} code from the SMS */
export async function confirmMove(code) {
  const problem = await change("sign", async (token) => {
    const transfer = await api.signTransfer(token, intend("transfer.sign", { code }, { secret: true }));
    set({ transfer });
    if (transfer.state === "signed") {
      signOut("moved");
      go({ me: true }, { replace: true }); // the next login is not for another move
    }
  });
  if (problem && !problem.passing) await read(async (token) => ({ transfer: await moveOf(token) }));
  return problem;
}

/**
 * Starts a registration as the logged-in visitor: the club asks for no details, but may ask for the guardian of a minor.
 * @param {import("./contract").NewItem} item
 * @param {import("./contract").Guardian} [guardian]
 */
export async function startKnown(item, guardian) {
  const { place } = get();
  const problem = await change("start", async (token) => {
    const wanted = { clubId: place.club ?? "", items: [item], ...(guardian && { guardian }), ...attributed() };
    begun(await api.startRegistration(intend("start.known", wanted), token));
  });
  const { offerId: offer, startDate, debit } = item;
  if (problem && refuses(problem, "guardian") && get().place === place) go({ me: true, club: place.club, offer, startDate, debitDay: debit?.day ? String(debit.day) : undefined, step: "guardian" });
  return problem;
}
