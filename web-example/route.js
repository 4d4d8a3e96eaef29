// @ts-check
/**
 * Which step the address and the registration mean. A reload, a second tab or the return from the card processor need
 * only the address:
 *
 *     /                                          choose a club
 *     /?invitation=…&club=11                     take the club's invitation, and choose an offer
 *     /?club=11                                  choose an offer; &category=counter: of that kind first
 *     /?club=11&offer=2                          see that offer, and choose when it starts or is debited
 *     /?club=11&offer=2&startDate=2026-12-01     enter personal details (and &debitDay=5, for direct debit)
 *     /?club=11&offer=3&debitDay=5               the same for an offer that needs no start; 0: the club chooses the day
 *     /?club=11&offer=4&step=person              the same for an offer that needs neither
 *     /?resume=…                                 continue a registration of another device; see takeResume
 *     /?registration=…                           the current step of that registration
 *     /?registration=…&step=cart                 see the order before signing the mandate
 *     /?registration=…&step=offer                add an offer to its cart
 *     /?registration=…&step=instead              choose an offer instead of what is in its cart
 *     /?registration=…&step=person               correct personal details, then see the order
 *     /?registration=…&step=person&field=mobile  correct one of them, then continue with the registration's current step
 *     /?registration=…&step=guardian             name the guardian who concludes a minor's contract
 *     /?registration=…&step=prospect             bring in an existing account
 *     /?me                                       the visitor's membership, after the club's login; see identity.js
 *     /?me&step=consents                         what the club may send
 *     /?me&step=transfer                         move to another club
 *     /?statement=withdrawal                     withdraw from a contract; cancellation: cancel one; &membership=4: that of the member
 *     /?me&club=11                               choose an offer, from the member's own price list; &offer=2: see that offer
 *     /?me&club=11&offer=2&step=guardian         name the guardian of a member who is a minor; the same with an invitation
 *
 * @typedef {"club" | "offer" | "person" | "guardian" | "prospect" | "cart" | "mandate" | "payment" | "done" | "me" | "consents" | "transfer" | "statement"} Step
 *
 * @typedef {object} Place
 * @property {string} [club]
 * @property {string} [offer]
 * @property {string} [startDate]
 * @property {string} [debitDay] of the month, if the offer is paid by direct debit; 0: the club chooses
 * @property {string} [category] the part of the catalogue to display first
 * @property {string} [registration]
 * @property {string} [step]
 * @property {string} [field] the field to correct
 * @property {string} [invitation]
 * @property {boolean} [me] the visitor's own place
 * @property {import("./statement.js").Kind} [statement] what the visitor wants to declare
 * @property {string} [membership] the membership that a logged-in member wants to cancel
 */

import { today } from "./format.js";
import { tab } from "../client/kept.js";
import { set } from "./store.js";
import { findOffer, startDates } from "./terms.js";

/** The address's parameter names for the parts of a place. */
const NAMES = /** @type {const} */ (["club", "offer", "startDate", "debitDay", "category", "registration", "step", "field", "invitation", "statement", "membership"]);

/** @returns {Place} what the address names */
export function here() {
  const query = new URLSearchParams(location.search);
  const named = Object.fromEntries(NAMES.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  return query.has("me") ? { ...named, me: true } : named;
}

/**
 * The secret of a link that resumes a registration. It gives access to the registration, so it is immediately removed
 * from the address, and so from the history.
 * @returns {string | undefined}
 */
export function takeResume() {
  const resume = new URLSearchParams(location.search).get("resume");
  if (resume === null) return undefined;
  history.replaceState(null, "", linkTo(here()));
  return resume || undefined;
}

/** A campaign's parameters in the address, and what the gateway accepts as a value: nothing personal. */
const CAMPAIGN = { source: "utm_source", medium: "utm_medium", campaign: "utm_campaign", content: "utm_content" };
const CAMPAIGN_NAME = /^(?=.*[A-Za-z])[A-Za-z0-9._-]{1,64}$/;
const ATTRIBUTION = "frontdesk.attribution";

/** Remembers, for this visit, the campaign that the address names; where storage is forbidden, the visit has none. */
export function keepAttribution() {
  const query = new URLSearchParams(location.search);
  const names = Object.entries(CAMPAIGN).flatMap(([name, parameter]) => (CAMPAIGN_NAME.test(query.get(parameter) ?? "") ? [[name, query.get(parameter)]] : []));
  if (names.length) tab.keep(ATTRIBUTION, Object.fromEntries(names));
}

/** @returns {{ attribution?: import("./contract").StartRegistration["attribution"] }} the campaign of this visit, for the start of a registration */
export function attributed() {
  const attribution = tab.kept(ATTRIBUTION);
  return attribution ? { attribution } : {};
}

/** Also removes what the card processor adds to the address when it sends the browser back: it opens the payment there. */
export function dropProcessorsWords() {
  if (new URLSearchParams(location.search).has("payment_intent_client_secret")) history.replaceState(null, "", linkTo(here()));
}

/** @param {Place} place */
export function linkTo(place) {
  const query = new URLSearchParams(NAMES.flatMap((name) => (place[name] ? [[name, place[name] ?? ""]] : [])));
  const parts = [place.me && "me", String(query)].filter(Boolean);
  return parts.length ? `?${parts.join("&")}` : location.pathname;
}

/**
 * Where the visitor continues after correcting details: in the order, or in the step that sent them to one field.
 * @param {Place} place
 * @returns {Place}
 */
export const afterCorrection = ({ registration, field }) => (field ? { registration } : { registration, step: "cart" });

/** @param {Place} place as an absolute address, for other sites that send the browser back */
export const addressOf = (place) => new URL(linkTo(place), location.origin + location.pathname).href;

/**
 * Goes to a place.
 * @param {Place} place
 * @param {{ replace?: boolean }} [options] `replace`: the back button does not return to the current place
 */
export function go(place, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", linkTo(place));
  else history.pushState(null, "", linkTo(place));
  set({ place: here() });
}

/**
 * Shows a part of the catalogue, and notes it in the address for a reload. The place stays the same.
 * @param {string} category
 */
export function showCategory(category) {
  history.replaceState(null, "", linkTo({ ...here(), category }));
  set({ category });
}

/** @param {string} id of the registration to which the card processor sends the browser back */
export const returnUrl = (id) => addressOf({ registration: id });

/**
 * @param {Place} place
 * @param {import("./store.js").State} state
 * @returns {Step}
 */
export function stepOf(place, state) {
  if (place.statement === "withdrawal" || place.statement === "cancellation") return "statement";
  if (place.registration) return state.missing ? "done" : stepOfRegistration(place, state.registration);
  if (place.invitation && place.step === "guardian") return "guardian";
  if (place.me) return stepOfMember(place, state);
  if (place.club && place.offer) return lacksDay(place, state) ? "offer" : "person";
  const isUnknown = state.isStuck && state.problem?.code === "club_not_found"; // the club: below the problem, another one can be chosen
  return place.club && !isUnknown ? "offer" : "club";
}

/**
 * Whether the address names an offer without a start date, or with one in the past, or without the debit day of an offer
 * that needs no start date: the page asks for it first. An offer that needs neither is shown first, too, with its seller, unless the
 * visitor has chosen it. Until the catalogue says what the offer needs, the visitor types nothing in vain.
 * @param {Place} place
 * @param {Pick<import("./store.js").State, "catalogue">} state
 */
function lacksDay({ offer, startDate, debitDay, step }, { catalogue }) {
  const found = findOffer(catalogue, offer);
  const hasStart = !!startDate && startDate >= (found ? startDates(found.offer).min : today());
  if (!found) return !hasStart && !catalogue?.complete;
  const { needs } = found.offer;
  if (needs.includes("startDate")) return !hasStart;
  return needs.includes("debit") ? !debitDay : !startDate && step !== "person";
}

/**
 * The step of a member's own place: the login, whatever the address names, while the visitor is not logged in.
 * @param {Place} place
 * @param {import("./store.js").State} state
 * @returns {Step}
 */
function stepOfMember(place, { identity }) {
  if (!identity) return "me";
  if (place.step === "consents" || place.step === "transfer") return place.step;
  if (place.club && place.offer && place.step === "guardian") return "guardian";
  return place.club ? "offer" : "me";
}

/**
 * What the contract's steps mean here. At those of the cart, the visitor can change it, and the address can name another screen.
 * @type {Record<string, "cart" | "payment" | "done">}
 */
const STEPS = {
  person: "cart", items: "cart", guardian: "cart", fix_cart: "cart", mandate: "cart", code: "cart", ready: "cart",
  at_processor: "payment", declined: "payment", waiting: "payment",
  done: "done", with_staff: "done", abandoned: "done", expired: "done",
};

/**
 * Whether this site knows the registration's step. The contract's list can grow; the gateway's message is shown at any other step.
 * @param {import("./contract").Registration} registration
 */
export const isKnown = ({ step }) => Object.hasOwn(STEPS, step);

/**
 * Whether the registration is over or with the club's staff, or its payment decides what happens next. At an unknown step, a
 * payment decides while the cart cannot be changed.
 * @param {import("./contract").Registration} registration
 */
function phaseOf(registration) {
  const { step, final, payment } = registration;
  if (final) return "done";
  if (payment?.state === "in_doubt") return "payment";
  if (isKnown(registration)) return STEPS[step];
  return payment && !can(registration, "add_item") ? "payment" : "cart";
}

/**
 * @param {Place} place
 * @param {import("./contract").Registration} [registration]
 * @returns {Step}
 */
function stepOfRegistration(place, registration) {
  if (!registration) return "cart";
  if (registration.step === "with_staff" && can(registration, "abandon")) return "cart"; // nothing was paid here
  const phase = phaseOf(registration);
  if (phase !== "cart") return phase;
  if (place.step === "offer" && can(registration, "add_item")) return "offer";
  if (place.step === "instead" && can(registration, "clear_items")) return "offer";
  if (place.step === "person" && can(registration, "person")) return "person";
  if ((place.step === "guardian" || registration.step === "guardian") && can(registration, "guardian")) return "guardian";
  if (!registration.cart.items.length && can(registration, "add_item")) return "offer";
  if (!registration.contact && can(registration, "person")) return "person";
  if (place.step === "prospect" && can(registration, "prospect")) return "prospect";
  if (place.step === "cart") return "cart";
  if (registration.step === "person" && can(registration, "prospect")) return "prospect"; // the account was brought in halfway
  return signsNext(registration) ? "mandate" : "cart";
}

/** The actions that sign a mandate, and those that can be the main button of a filled cart: the first of them in `next`. */
const SIGNING = ["mandate", "sign", "resend"];
const MAIN = ["pay", "check", ...SIGNING];

/**
 * Whether only the mandate is missing before the cart can be paid.
 * @param {import("./contract").Registration} registration
 */
export function signsNext(registration) {
  const { step } = registration;
  if (isKnown(registration)) return step === "mandate" || step === "code";
  const main = registration.next.find(({ action }) => MAIN.includes(action))?.action ?? "";
  return SIGNING.includes(main);
}

/**
 * Whether an offer in the cart is not for the buyer's age. The club system reports it only when it checks the cart.
 * @param {import("./contract").Registration} [registration]
 */
export const isTooYoungOrOld = (registration) => !!registration?.cart.problems.some(({ code }) => code === "age_restricted");

/**
 * Whether the club's staff have settled the cart in the club system: there is nothing more to pay.
 * @param {import("./contract").Registration} [registration]
 */
export const isSettled = (registration) => !!registration?.cart.problems.some(({ code }) => code === "settled");

/**
 * Whether the registration can no longer change. One that staff are checking can still become a membership.
 * @param {import("./contract").Registration} registration
 */
export const isFinal = ({ final }) => final;

/**
 * Whether money of the registration may be on its way, the club has it already, or staff are looking into it.
 * @param {import("./contract").Registration} registration
 */
export const isPaying = (registration) => phaseOf(registration) !== "cart";

/**
 * Whether the gateway allows the visitor an action now.
 * @param {import("./contract").Registration | undefined} registration
 * @param {import("./contract").ActionName} action
 */
export const can = (registration, action) => !!registration?.next.some((one) => one.action === action);

/** The methods that this site offers. */
const METHODS = ["card", "later", "free"];

/**
 * The methods by which the visitor may settle the cart now; none while money may have moved.
 * @param {import("./contract").Registration} registration
 */
export const ways = (registration) =>
  (canPay(registration) && registration.next.find((one) => one.action === "pay")?.methods?.filter((method) => METHODS.includes(method))) || [];

/**
 * Whether the visitor may request a payment: the gateway offers it, and an earlier payment, if any, does not forbid it.
 * Every pay button checks this, so that none is shown while money may have moved.
 * @param {import("./contract").Registration} registration
 */
export const canPay = (registration) => can(registration, "pay") && registration.payment?.payAgain !== "no";

/** The processor whose card fields processor.js can show; every other one has a card page. */
const PROCESSOR = "stripe";

/**
 * The processor's card fields, if they belong on this page.
 * @param {import("./contract").Payment | undefined} payment
 */
export function embeddedCard(payment) {
  const { presentation, processor, clientSecret, publishableKey } = payment?.card ?? {};
  return presentation === "embedded" && processor === PROCESSOR && clientSecret && publishableKey ? { clientSecret, publishableKey } : undefined;
}
