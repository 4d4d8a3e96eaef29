// @ts-check
/**
 * Which step the address and the registration mean. The address is all that a reload, a second tab or the way back from
 * the card processor need:
 *
 *     /                                          choose a club
 *     /?invitation=…&club=11                     take the club's invitation, and choose an offer
 *     /?club=11                                  choose an offer
 *     /?club=11&offer=2&startDate=2026-12-01     give one's details (and &debitDay=5, where it is paid by direct debit)
 *     /?resume=…                                 continue a registration of another device; see takeResume
 *     /?registration=…                           wherever that registration stands
 *     /?registration=…&step=offer                add an offer to its cart
 *     /?registration=…&step=person               correct one's details
 *     /?registration=…&step=prospect             bring in the account that one has already
 *     /?registration=…&step=mandate              set up direct debit
 *     /?me                                       the visitor's membership, after the club's login; see identity.js
 *     /?me&step=consents                         what the club may send
 *     /?me&step=transfer                         move to another club
 *     /?me&club=11                               choose an offer, from one's own price list
 *
 * @typedef {"club" | "offer" | "person" | "prospect" | "cart" | "mandate" | "payment" | "done" | "me" | "consents" | "transfer"} Step
 *
 * @typedef {object} Place
 * @property {string} [club]
 * @property {string} [offer]
 * @property {string} [startDate]
 * @property {string} [debitDay] of the month, where the offer is paid by direct debit
 * @property {string} [registration]
 * @property {string} [step]
 * @property {string} [invitation]
 * @property {boolean} [me] the visitor's own place
 */

import { today } from "./format.js";
import { set } from "./store.js";
import { findOffer, soldHere } from "./terms.js";

/** How the address calls what a place names. */
const NAMES = /** @type {const} */ (["club", "offer", "startDate", "debitDay", "registration", "step", "invitation"]);

/** @returns {Place} what the address names */
export function here() {
  const query = new URLSearchParams(location.search);
  const named = Object.fromEntries(NAMES.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  return query.has("me") ? { ...named, me: true } : named;
}

/**
 * The secret of a link that resumes a registration. It is proof of the registration, so it leaves the address, and
 * with it the history, at once.
 * @returns {string | undefined}
 */
export function takeResume() {
  const resume = new URLSearchParams(location.search).get("resume");
  if (resume === null) return undefined;
  history.replaceState(null, "", linkTo(here()));
  return resume || undefined;
}

/** What the card processor adds to the address when it sends the browser back leaves it as well: it opens the payment there. */
export function dropProcessorsWords() {
  if (new URLSearchParams(location.search).has("payment_intent_client_secret")) history.replaceState(null, "", linkTo(here()));
}

/** @param {Place} place */
export function linkTo(place) {
  const query = new URLSearchParams(NAMES.flatMap((name) => (place[name] ? [[name, place[name] ?? ""]] : [])));
  const parts = [place.me && "me", String(query)].filter(Boolean);
  return parts.length ? `?${parts.join("&")}` : location.pathname;
}

/** @param {Place} place with the site's whole address, for others who send the browser back */
export const addressOf = (place) => new URL(linkTo(place), location.origin + location.pathname).href;

/**
 * Goes to a place.
 * @param {Place} place
 * @param {{ replace?: boolean }} [options] `replace`: the back button shall not lead to where we are now
 */
export function go(place, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", linkTo(place));
  else history.pushState(null, "", linkTo(place));
  set({ place: here() });
}

/** @param {string} id where the card processor sends the browser back to */
export const returnUrl = (id) => addressOf({ registration: id });

/**
 * @param {Place} place
 * @param {import("./store.js").State} state
 * @returns {Step}
 */
export function stepOf(place, state) {
  if (place.registration) return state.missing ? "done" : stepOfRegistration(place, state.registration);
  if (place.me) return stepOfMember(place, state);
  if (place.club && place.offer) return lacksStart(place, state) ? "offer" : "person";
  return place.club ? "offer" : "club";
}

/**
 * Whether the address names an offer without the day on which it shall start, or with one that is over: that is asked
 * for before anything else. Until the catalogue has said whether the offer needs one, no visitor types in vain.
 * @param {Place} place
 * @param {Pick<import("./store.js").State, "catalogue">} state
 */
export function lacksStart({ offer, startDate }, { catalogue }) {
  if (startDate && startDate >= today()) return false;
  const found = findOffer(catalogue, offer);
  if (!found) return !catalogue?.complete;
  return soldHere(found.offer) && found.offer.needs.includes("startDate");
}

/**
 * The step of a member's own place: the login, wherever the address leads, while the visitor is not logged in.
 * @param {Place} place
 * @param {import("./store.js").State} state
 * @returns {Step}
 */
function stepOfMember(place, { identity }) {
  if (!identity) return "me";
  if (place.step === "consents" || place.step === "transfer") return place.step;
  return place.club ? "offer" : "me";
}

/**
 * @param {Place} place
 * @param {import("./contract").Registration} [registration]
 * @returns {Step}
 */
function stepOfRegistration(place, registration) {
  if (!registration) return "cart";
  if (registration.state === "paying" || registration.payment?.state === "in_doubt") return "payment";
  if (registration.state !== "open") return "done";
  if (place.step === "offer" && can(registration, "add_item")) return "offer";
  if (place.step === "person" && can(registration, "person")) return "person";
  if (!registration.cart.items.length && can(registration, "add_item")) return "offer";
  if (!registration.contact && can(registration, "person")) return "person";
  if (place.step === "prospect" && can(registration, "prospect")) return "prospect";
  if (place.step === "mandate" && needsMandate(registration)) return "mandate";
  return "cart";
}

/**
 * Whether a direct debit mandate has to be signed before the cart can be paid.
 * @param {import("./contract").Registration} registration
 */
export const needsMandate = (registration) => can(registration, "mandate");

/**
 * Whether nothing can happen to the registration any more. What the staff look into can still become a membership.
 * @param {import("./contract").Registration} registration
 */
export const isFinal = ({ final }) => final;

/**
 * Whether the gateway lets the visitor do that now.
 * @param {import("./contract").Registration | undefined} registration
 * @param {import("./contract").ActionName} action
 */
export const can = (registration, action) => !!registration?.next.some((one) => one.action === action);

/**
 * The ways in which the gateway lets the visitor settle the cart now; none while money may have moved.
 * @param {import("./contract").Registration} registration
 */
export const ways = (registration) =>
  (canPay(registration) && registration.next.find((one) => one.action === "pay")?.methods) || [];

/**
 * Whether the visitor may ask for a payment: the gateway offers it, and the payment before, if there was one, does
 * not forbid it. Every pay button asks here, so that none is shown while money may have moved.
 * @param {import("./contract").Registration} registration
 */
export const canPay = (registration) => can(registration, "pay") && registration.payment?.payAgain !== "no";
