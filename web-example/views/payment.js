// @ts-check
/**
 * The fifth step: a payment in progress. Its texts and buttons follow from the payment's state and `payAgain` alone. A payment
 * in doubt has no button.
 */
import { button, h, heading, icon, ticks, working } from "../dom.js";
import { pay } from "../journey.js";
import { canPay, embeddedCard, isKnown } from "../route.js";
import { get } from "../store.js";
import { text, textFor } from "../text.js";
import { waysOut } from "./abandon.js";
import { isAgreed } from "./agreements.js";
import { READINGS_TO_BELIEVE } from "./card.js";
import { contact } from "./contact.js";
import { leaveHere } from "./elsewhere.js";
import { said } from "./message.js";
import { label, ordering } from "./order.js";

/**
 * @typedef {import("../contract").Payment} Payment
 * @typedef {import("../contract").Registration} Registration
 * @typedef {Payment["state"] | "preparing" | "checking" | "refunding"} State a payment's state; `preparing` before the processor knows
 *   it; `refunding` until the money has gone back; `checking` while the gateway may be a moment behind the processor
 */

/** States in which the page waits for others. */
const WAITING = ["preparing", "checking", "processing", "recorded", "in_doubt"];

/** States of money that has moved and is not yet where it belongs: the visitor may want to ask the club about it. */
const UNSETTLED = ["in_doubt", "refunding"];

/** @type {Record<string, string>} */
const PICTURES = {
  preparing: "clock", checking: "clock", requires_action: "card", processing: "clock", recorded: "tick", declined: "alert", cancelled: "info",
  in_doubt: "shield", refunding: "back", refunded: "back",
};

/** The methods for which this page has texts. For others, for states without a picture and at unknown steps, it shows the gateway's message. */
const METHODS = ["card", "later", "free", "desk"];

/** Messages about a buyer who does not meet a condition of an offer. They say more than this page's own texts for the payment's state. */
const RESTRICTED = ["payment_restricted_refunding", "payment_restricted_refunded", "settlement_restricted", "desk_restricted"];

/** @param {import("../store.js").State} state */
export const reads = ({ registration, details, readings, confirmed }) => [registration, details, readings < READINGS_TO_BELIEVE, confirmed];

export function show() {
  const { registration } = get();
  if (!registration?.payment) return heading(text.loading);
  const state = stateOf(registration.payment);
  return h("section", { class: `outcome is-${state}`, "data-payment": state },
    h("span", { class: WAITING.includes(state) ? "seal is-waiting" : "seal" }, icon(textFor(PICTURES, state) ?? "info")),
    heading(words(registration, state).heading),
    h("p", { class: "lead" }, lead(state, registration)),
    state === "declined" && reason(registration.payment),
    state === "in_doubt" && ticks(words(registration, state).points ?? []),
    UNSETTLED.includes(state) && registration.contact && h("p", { class: "fine", "data-reference": true }, text.done.reference(registration.contact.number)),
    (UNSETTLED.includes(state) || (state === "declined" && !canPay(registration))) && contact(registration.clubId),
    state !== "checking" && actions(registration, registration.payment),
    UNSETTLED.includes(state) && leaveHere());
}

/**
 * The texts for a state, which differ if no card was charged.
 * @param {Registration} registration
 * @param {State} state
 * @returns {{ heading: string, lead: string, closed?: string, points?: string[] }}
 */
function words(registration, state) {
  const { payment, message } = registration;
  if (state === "cancelled" && payment?.card?.declineCode) return text.payment.declinedTooOften;
  if (state === "cancelled" && message.code === "payment_not_confirmed") return text.payment.notConfirmed;
  if (state === "processing" && message.code === "payment_on_hold") return text.payment.onHold;
  const [cards, others] = /** @type {Record<string, any>[]} */ ([text.payment, text.settlement]);
  if (!isKnown(registration) || !Object.hasOwn(PICTURES, state) || !METHODS.includes(payment?.method ?? "")) return { heading: text.payment.other, lead: message.text };
  const usual = (payment?.method !== "card" && others[state]) || cards[state];
  return RESTRICTED.includes(message.code) ? { heading: usual.heading, lead: message.text } : usual;
}

/**
 * @param {Payment} payment
 * @returns {State}
 */
function stateOf(payment) {
  const { state, payAgain, card } = payment;
  if (card?.refunding) return "refunding";
  if (state === "processing" && payAgain === "same_request") return "preparing";
  const canBeBehind = state === "requires_action" || state === "declined";
  if (card?.clientSecret && card.clientSecret === get().confirmed) return "processing";
  return canBeBehind && get().readings < READINGS_TO_BELIEVE ? "checking" : state;
}

/**
 * The button that orders and pays. It exists only where `canPay` allows it, directly below the essential terms, and is disabled as
 * soon as it is pressed.
 * @param {Registration} registration
 */
export const payButton = (registration) =>
  button({ class: "button button-wide", id: "pay", "data-pay": true, onclick: () => isAgreed() && pay() },
    icon(registration.cart.dueNow.amount > 0 ? "lock" : "tick"), working(label(registration), text.cart.paying));

/**
 * How the last payment ended, for visitors who are back at the cart; the gateway's message if this page does not know where they stand.
 * @param {Registration} registration
 */
export function outcome(registration) {
  const { payment } = registration;
  if (!isKnown(registration) || (payment && !Object.hasOwn(PICTURES, payment.state))) return said(registration);
  if (!payment) return null;
  if (payment.state !== "declined" && payment.state !== "cancelled" && payment.state !== "refunded") return null;
  return h("section", { class: `notice notice-block is-${payment.state}`, "data-payment": payment.state },
    icon(textFor(PICTURES, payment.state) ?? "info"),
    h("div", {}, h("h2", {}, words(registration, payment.state).heading), h("p", {}, lead(payment.state, registration)), reason(payment)));
}

/**
 * @param {State} state
 * @param {Registration} registration
 */
function lead(state, registration) {
  const { closed, lead: usual } = words(registration, state);
  if (state === "requires_action" && isKnown(registration) && embeddedCard(registration.payment)) return text.card.lead;
  return (!canPay(registration) && closed) || usual;
}

/** @param {Payment} payment why the bank said no, if it said, and how often the visitor can try again */
function reason(payment) {
  const { declineCode: code, attemptsLeft } = payment.card ?? {};
  const reasons = /** @type {Record<string, string>} */ (text.payment.declined.reasons);
  const why = payment.state === "declined" && reasons[code ?? ""];
  return [why && h("p", { "data-decline": code }, why), attemptsLeft && h("p", { class: "fine", "data-attempts": attemptsLeft }, text.mandate.code.left(attemptsLeft))];
}

/**
 * @param {Registration} registration
 * @param {Payment} payment
 */
const actions = (registration, payment) =>
  h("div", { class: "actions" },
    embeddedCard(payment) ? null : canPay(registration) ? h("div", { class: "ordering" }, ordering(registration, payButton(registration))) : processorLink(payment),
    !embeddedCard(payment) && waysOut(registration));

/**
 * The link back to a payment that waits at the processor. It is the same payment, not a second one.
 * @param {Payment} payment
 */
function processorLink(payment) {
  if (payment.card?.redirectUrl) {
    return h("a", { class: "button button-wide", href: payment.card.redirectUrl, "data-continue": true }, icon("lock"), text.payment.requires_action.go);
  }
  return payment.state === "requires_action" && h("p", { class: "notice" }, icon("info"), text.payment.requires_action.embedded);
}
