// @ts-check
/**
 * The requests of the site: one function per operation of /openapi.yaml, in its order. How they are sent, and sent again, is in the
 * client, which other front ends use, too.
 *
 * @import { Intention } from "../client/kept.js"
 * @import {
 *   Acknowledgement, ChangeConsents, ConsentChanges, DebitDay, Document, Guardian, NewCancellation, NewItem, NewMandate, Person,
 *   PersonCorrection, Registration, ResumeLink, StartPayment, StartRegistration, Transfer
 * } from "./contract"
 */
import { createClient } from "../client/request.js";
import { solve } from "./challenge.js";
import { get, set } from "./store.js";
import { language } from "./text.js";

export { Problem } from "../client/request.js";

export const client = createClient({
  language: () => language,
  onChallenge: solve,
  onTrouble(problem) {
    const crowded = problem?.code === "overloaded";
    if (get().waiting !== !!problem || get().crowded !== crowded) set({ waiting: !!problem, crowded });
  },
});

/** Asks for a session in a cookie that scripts cannot read. */
const COOKIE = { "X-Frontdesk-Session": "cookie" };

export const getConfig = () => client.request("GET", "/v1/config");

export const listClubs = () => client.request("GET", "/v1/clubs");

/** @param {string} clubId */
export const getClub = (clubId) => client.request("GET", "/v1/clubs/{clubId}", { path: { clubId } });

/**
 * @param {string} clubId
 * @param {string} [cursor]
 * @param {string} [identity] the identity token of the contact whose catalogue to read
 */
export const listProducts = (clubId, cursor, identity) =>
  client.request("GET", "/v1/clubs/{clubId}/products", { path: { clubId }, query: { cursor }, headers: as(identity) });

/**
 * Reads the product of an offer, with only this offer.
 * @param {string} clubId
 * @param {string} offerId
 */
export const getOffer = (clubId, offerId) => client.request("GET", "/v1/clubs/{clubId}/offers/{offerId}", { path: { clubId, offerId } });

/**
 * @param {string} clubId
 * @param {string} offerId
 * @param {{ startDate?: string, debitDay?: number }} terms
 * @param {string} [identity] the identity token of the contact whose offer it is
 */
export const getSchedule = (clubId, offerId, { startDate, debitDay }, identity) =>
  client.request("GET", "/v1/clubs/{clubId}/offers/{offerId}/schedule", { path: { clubId, offerId }, query: { startDate, debitDay }, headers: as(identity) });

/** @type {(clubId: string, startDate: string) => Promise<{ items: DebitDay[] }>} */
export const listDebitDays = (clubId, startDate) =>
  client.request("GET", "/v1/clubs/{clubId}/debit-days", { path: { clubId }, query: { startDate } });

/** @type {(clubId: string, language: string) => Promise<{ items: Document[] }>} */
export const listDocuments = (clubId, language) =>
  client.request("GET", "/v1/clubs/{clubId}/documents", { path: { clubId }, query: { language } });

/**
 * @param {Intention<StartRegistration>} intention
 * @param {string} [identity] the identity token of the person who registers, after a login at the club
 */
export const startRegistration = (intention, identity) =>
  client.request("POST", "/v1/registrations", { intention, headers: { ...COOKIE, ...as(identity) } });

/** @type {(id: string, intention: Intention<undefined>) => Promise<ResumeLink>} */
export const createResumeLink = (id, intention) => client.request("POST", "/v1/registrations/{id}/resume-link", { path: { id }, intention });

/** @param {Intention<{ resume: string }>} intention */
export const resumeRegistration = (intention) => client.request("POST", "/v1/resumptions", { intention, headers: COOKIE });

/**
 * @param {string} id
 * @param {{ once?: boolean }} [options] `once`: do not retry, for a caller that polls regularly anyway
 */
export const getRegistration = (id, options) => client.request("GET", "/v1/registrations/{id}", { path: { id }, ...options });

/** @param {string} id */
export const listBuyersConsents = (id) => client.request("GET", "/v1/registrations/{id}/consents", { path: { id }, once: true });

/** @type {(id: string, body: ChangeConsents) => Promise<ConsentChanges>} */
export const changeBuyersConsents = (id, body) => client.request("PATCH", "/v1/registrations/{id}/consents", { path: { id }, body });

/** @param {string} id */
export const abandonRegistration = (id) => client.request("DELETE", "/v1/registrations/{id}", { path: { id } });

/** @type {(id: string, body: Person) => Promise<Registration>} */
export const putPerson = (id, body) => client.request("PUT", "/v1/registrations/{id}/person", { path: { id }, body });

/** @type {(id: string, body: PersonCorrection) => Promise<Registration>} */
export const correctPerson = (id, body) => client.request("PATCH", "/v1/registrations/{id}/person", { path: { id }, body });

/** @type {(id: string, body: Guardian) => Promise<Registration>} */
export const putGuardian = (id, body) => client.request("PUT", "/v1/registrations/{id}/guardian", { path: { id }, body });

/** @type {(id: string, intention: Intention<NewItem>) => Promise<Registration>} */
export const addItem = (id, intention) => client.request("POST", "/v1/registrations/{id}/items", { path: { id }, intention });

/** @param {string} id */
export const clearItems = (id) => client.request("DELETE", "/v1/registrations/{id}/items", { path: { id } });

/** @type {(id: string, itemId: string) => Promise<Registration>} */
export const removeItem = (id, itemId) => client.request("DELETE", "/v1/registrations/{id}/items/{itemId}", { path: { id, itemId } });

/** @param {string} id */
export const checkCart = (id) => client.request("POST", "/v1/registrations/{id}/check", { path: { id } });

/** @type {(id: string, intention: Intention<NewMandate>) => Promise<Registration>} */
export const createMandate = (id, intention) => client.request("POST", "/v1/registrations/{id}/mandate", { path: { id }, intention });

/** @type {(id: string, intention: Intention<{ code: string }>) => Promise<Registration>} */
export const signMandate = (id, intention) => client.request("POST", "/v1/registrations/{id}/mandate/signature", { path: { id }, intention });

/** @param {string} id */
export const cancelSignature = (id) => client.request("DELETE", "/v1/registrations/{id}/mandate/signature", { path: { id } });

/** @type {(id: string, intention: Intention<undefined>) => Promise<Registration>} */
export const resendCode = (id, intention) => client.request("POST", "/v1/registrations/{id}/mandate/signature/resend", { path: { id }, intention });

/** @type {(id: string, intention: Intention<{ accessToken: string }>) => Promise<Registration>} */
export const migrateProspect = (id, intention) => client.request("POST", "/v1/registrations/{id}/prospect", { path: { id }, intention });

/** @type {(id: string, intention: Intention<StartPayment>) => Promise<Registration>} */
export const startPayment = (id, intention) => client.request("POST", "/v1/registrations/{id}/payment", { path: { id }, intention });

/** @param {string} id */
export const cancelPayment = (id) => client.request("DELETE", "/v1/registrations/{id}/payment", { path: { id } });

/** @param {string} identity */
export const getMe = (identity) => client.request("GET", "/v1/me", { headers: as(identity) });

/** @param {string} identity */
export const listMemberships = (identity) => client.request("GET", "/v1/me/memberships", { headers: as(identity) });

/** @param {string} identity */
export const listConsents = (identity) => client.request("GET", "/v1/me/consents", { headers: as(identity) });

/** @type {(identity: string, body: ChangeConsents) => Promise<ConsentChanges>} */
export const changeConsents = (identity, body) => client.request("PATCH", "/v1/me/consents", { body, headers: as(identity) });

/** @param {string} identity */
export const getTransfer = (identity) => client.request("GET", "/v1/me/transfer", { headers: as(identity) });

/** @type {(identity: string, intention: Intention<{ clubId: string }>) => Promise<Transfer>} */
export const startTransfer = (identity, intention) => client.request("POST", "/v1/me/transfer", { intention, headers: as(identity) });

/** @type {(identity: string, intention: Intention<{ code: string }>) => Promise<Transfer>} */
export const signTransfer = (identity, intention) => client.request("POST", "/v1/me/transfer/signature", { intention, headers: as(identity) });

/**
 * @param {import("./statement.js").Kind} kind
 * @param {Intention<NewCancellation>} intention
 * @param {string} [identity] the identity token of the contact whose contract it is
 */
export const stateStatement = (kind, intention, identity) => client.request("POST", `/v1/${kind}s`, { intention, headers: as(identity) });

/** @type {(kind: import("./statement.js").Kind, statementId: string) => Promise<Acknowledgement>} */
export const confirmStatement = (kind, statementId) => client.request("POST", `/v1/${kind}s/{statementId}/confirm`, { path: { statementId } });

/**
 * @param {string} [identity]
 * @returns {Record<string, string>} the header that identifies the visitor
 */
const as = (identity) => (identity ? { Authorization: `Bearer ${identity}` } : {});
