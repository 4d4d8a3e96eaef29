// @ts-check
/** The last step: the buyer is a member, the staff look into it, or the registration is closed or not found. */
import { button, h, heading, icon, price, ticks } from "../dom.js";
import { statementDraft } from "../draft.js";
import { date, money } from "../format.js";
import { cartSchedules, signOff } from "../journey.js";
import { canLogIn } from "../identity.js";
import { isSettled, linkTo } from "../route.js";
import { get } from "../store.js";
import { startOf } from "../terms.js";
import { text, textFor } from "../text.js";
import { offered } from "./consents.js";
import { contact } from "./contact.js";
import { leaveHere } from "./elsewhere.js";
import { said } from "./message.js";
import { withdrawals } from "./order.js";
import { coming } from "./plan.js";

/** @typedef {import("../contract").Registration} Registration */

/**
 * The page to print or save, which a browser's link asks for; the session's cookie permits it.
 * @param {string} id of the registration
 */
const confirmationOf = (id) => `/v1/registrations/${id}/confirmation`;

/** @param {import("../store.js").State} state */
export const reads = ({ registration, details, missing, catalogue, schedules, consents, consentRequests, consentResults }) =>
  [registration, details, missing, catalogue?.complete && catalogue.products, schedules, consents, consentRequests, consentResults];

export function show() {
  const { registration, missing } = get();
  if (missing || !registration) return ending("missing", "search");
  if (registration.step === "done") return welcome(registration);
  if (registration.step === "with_staff") return ending("attention", "shield");
  if (registration.step === "expired" || registration.step === "abandoned") return ending(registration.step, "clock");
  return otherEnding(registration);
}

/** @param {Registration} registration */
function welcome(registration) {
  const { payment } = registration;
  return h("section", { class: "welcome" },
    h("div", { class: "welcome-words" },
      h("span", { class: "seal is-good" }, icon("tick")),
      heading(text.done.completed.heading),
      h("p", { class: "lead", "data-settled": payment?.method }, welcomeWords(registration)),
      contract(registration)),
    memberCard(registration),
    coming(cartSchedules(get())),
    h("div", { class: "panel" },
      payment?.method === "card" && h("p", { class: "receipt", "data-paid": payment.total.amount },
        h("span", {}, text.done.completed.paid), price(payment.total)),
      h("h2", {}, text.done.completed.next),
      ticks([...owed(registration), ...text.done.completed.points]),
      contact(registration.clubId)),
    offered(),
    h("div", { class: "actions actions-row" },
      button({ class: "button button-quiet", "data-print": true, onclick: () => print() }, text.done.completed.print),
      h("a", { class: "button button-quiet", href: linkTo({}), "data-restart": true }, text.done.completed.another),
      canLogIn() && h("a", { href: linkTo({ me: true }) }, text.me.heading),
      button({ class: "link", "data-sign-off": true, onclick: signOff }, text.elsewhere.leave)));
}

/**
 * What the buyer has of the contract: its confirmation, where that is mailed, until when one can withdraw, and how.
 * @param {Registration} registration
 */
function contract(registration) {
  const { id, clubId, confirmation, order } = registration;
  return h("div", { class: "welcome-contract", "data-contract": true },
    h("div", { class: "actions actions-row" }, h("a", { class: "button", href: confirmationOf(id), target: "_blank", "data-confirmation": true }, text.done.completed.confirmation)),
    confirmation && h("p", { "data-mailed": confirmation.mailedTo?.length ?? "none" }, mailed(confirmation)),
    order && withdrawals(order.essentials).map((line) => h("p", { "data-withdrawal": true }, line)),
    h("div", { class: "actions actions-row" },
      h("a", { class: "button button-quiet", href: linkTo({ statement: "withdrawal", club: clubId }), "data-withdraw": true, onclick: () => fillWithdrawal(registration) }, text.statements.withdrawal.start)));
}

/**
 * Fills the withdrawal's form with what this page knows. That is kept in this tab, not in the address.
 * @param {Registration} registration
 */
function fillWithdrawal({ id, contact, guardian }) {
  const { given } = get();
  const person = given?.registration === id && !guardian ? given.person : undefined;
  const body = { contract: [contact?.number, id].filter(Boolean).join(", "), ...(person && { name: `${person.givenName} ${person.familyName}`, email: person.email }) };
  statementDraft.keep({ kind: "withdrawal", body });
}

/** @param {Registration} registration */
function welcomeWords({ payment, message }) {
  if (payment?.dueDate) return text.done.completed.owed(money(payment.total), date(payment.dueDate));
  return textFor(text.done.completed.settled, payment?.method ?? "card") ?? message.text;
}

/**
 * Whether the confirmation is mailed, and where.
 * @param {NonNullable<Registration["confirmation"]>} confirmation
 */
function mailed({ mailedTo }) {
  if (!mailedTo) return text.done.completed.notMailed;
  return mailedTo.length ? text.done.completed.mailed(mailedTo) : text.done.completed.mailedByClub;
}

/** @param {Registration} registration */
const owed = ({ payment }) => (payment?.dueDate ? [{ words: text.done.completed.owe(money(payment.total), date(payment.dueDate)), picture: "calendar" }] : []);

/** @param {Registration} registration */
function memberCard({ contact, cart, clubName }) {
  const bought = cart.items.filter(({ origin }) => origin !== "adjustment");
  const isTrial = bought.every(({ type }) => type === "test_session");
  return h("div", { class: "member-card", "data-member": contact?.number },
    icon("lanes"),
    h("p", { class: "member-club" }, h("span", { class: "logo", "aria-hidden": true }), clubName ?? text.brand),
    h("div", { class: "member-offer" }, h("small", {}, text.done.completed.chosen), bought.map((item) => h("p", {}, item.name, startOf(item)))),
    contact && h("p", { class: "member-number" }, h("small", {}, isTrial ? text.done.completed.customerNumber : text.done.completed.number), contact.number));
}

/**
 * @param {"attention" | "expired" | "abandoned" | "missing"} how
 * @param {string} picture
 */
function ending(how, picture) {
  const { registration } = get();
  const isClosed = how === "expired" || how === "abandoned";
  return h("section", { class: `outcome is-${how}` },
    h("span", { class: "seal" }, icon(picture)),
    heading(text.done[how].heading),
    h("p", { class: "lead" }, text.done[how].lead),
    isClosed && registration && h("p", { "data-charged": true }, charged(registration)),
    how === "attention" && registration && said(registration),
    how === "attention" && registration?.contact && h("p", { class: "fine" }, text.done.reference(registration.contact.number)),
    how === "attention" && [contact(registration?.clubId), leaveHere()],
    how !== "attention" && h("div", { class: "actions" }, h("a", { class: "button", href: linkTo({}), "data-restart": true }, text.done.restart)));
}

/** @param {Registration} registration that ended in a way that only the gateway can describe */
const otherEnding = ({ clubId, message }) =>
  h("section", { class: "outcome" },
    h("span", { class: "seal" }, icon("info")),
    heading(text.done.other),
    h("p", { class: "lead", "data-message": true }, message.text),
    contact(clubId),
    leaveHere());

/**
 * Whether money was charged or refunded; nothing if the payment's state does not show it.
 * @param {Registration} registration
 */
function charged(registration) {
  const { payment } = registration;
  if (isSettled(registration)) return text.cart.problems.settled;
  if (payment?.state === "refunded") return text.done.refunded;
  const isUncharged = !payment || ["declined", "cancelled", "requires_action"].includes(payment.state);
  return isUncharged && text.done.uncharged;
}
