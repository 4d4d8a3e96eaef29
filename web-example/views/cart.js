// @ts-check
/** The fourth step: review the cart from the club system, with what is due today and later, and pay. */
import { button, h, heading, icon, ticks } from "../dom.js";
import { date, moment, money } from "../format.js";
import { cartSchedules, changeItem, checkAgain, keepOne, removeItem, wantAgain } from "../journey.js";
import { can, go, isSettled, isTooYoungOrOld, linkTo, signsNext, ways } from "../route.js";
import { get } from "../store.js";
import { findOffer, startOf } from "../terms.js";
import { text, textFor } from "../text.js";
import { abandonButton } from "./abandon.js";
import { agreements } from "./agreements.js";
import { changes } from "./changes.js";
import { contact, seller } from "./contact.js";
import { askDays } from "./days.js";
import { debitOf } from "./debit.js";
import { elsewhere, leaveHere } from "./elsewhere.js";
import { laterForm } from "./later.js";
import { essentials, guarantee, ordering } from "./order.js";
import { outcome, payButton } from "./payment.js";
import { failed, follows, partsOf } from "./plan.js";
import { prospectLink } from "./prospect.js";

/**
 * @typedef {import("../contract").Registration} Registration
 * @typedef {import("../contract").Cart} Cart
 */

/** @param {import("../store.js").State} state */
export const reads = ({ registration, details, catalogue, schedules, link, given, brought, repeat, documents }) =>
  [registration, details, catalogue?.complete && catalogue.products, schedules, link, given, brought, repeat, documents];

export function show() {
  const { registration } = get();
  if (!registration) return skeleton();
  const { cart } = registration;
  return h("div", { class: "review" },
    h("div", { class: "step-head" }, heading(title(registration)), lead(registration)),
    outcome(registration),
    problems(registration),
    get().brought === registration.id && h("p", { class: "notice is-good", role: "status", "data-brought": true }, icon("tick"), text.brought),
    h("div", { class: "review-columns" },
      h("div", { class: "review-main" }, items(registration), changes(cart), afterToday(cart)),
      !isSettled(registration) && due(registration),
      details(registration),
      more(registration)));
}

/** @param {Registration} registration */
function title(registration) {
  if (isSettled(registration)) return text.cart.headingSettled;
  const offered = ways(registration);
  if (offered.includes("free")) return text.cart.headingFree;
  return offered.length ? text.cart.heading : text.cart.headingOrder;
}

/** @param {Registration} registration */
function lead(registration) {
  if (isSettled(registration)) return [h("p", { class: "lead", "data-problem": "settled" }, text.cart.problems.settled), contact(registration.clubId)];
  return [!registration.payment && h("p", { class: "lead" }, text.cart.lead)];
}

/** @param {Registration} registration */
function items(registration) {
  const { items } = registration.cart;
  return h("section", { class: "panel", "aria-labelledby": "items-heading" },
    h("h2", { id: "items-heading" }, text.cart.items),
    h("ul", { class: "lines" }, items.map((item) => line(item, removable(registration)))),
    h("ul", { class: "edits" },
      can(registration, "add_item") && h("li", {}, h("a", { href: linkTo({ registration: registration.id, step: "offer" }), "data-add": true }, text.cart.more)),
      can(registration, "clear_items") && h("li", {}, h("a", { href: linkTo({ registration: registration.id, step: "instead" }), "data-instead": true }, text.cart.instead))));
}

/**
 * Whether items can be removed one by one: with a single one, the visitor chooses something else instead.
 * @param {Registration} registration
 */
const removable = (registration) => can(registration, "clear_items") && registration.cart.items.filter(({ origin }) => origin === "chosen").length > 1;

/** Where lines come from that the club system adds to the visitor's choice. */
const ADDED = ["required", "adjustment"];

/**
 * @param {Cart["items"][number]} item
 * @param {boolean} isRemovable
 */
const line = (item, isRemovable) =>
  h("li", { "data-item": item.offerId ?? "" },
    h("div", {},
      h("strong", {}, item.name),
      item.origin === "chosen" && startOf(item),
      item.origin === "chosen" && partsOf(item),
      debitOf(item, findOffer(get().catalogue, item.offerId)?.offer.billing?.rhythm),
      wrongFields(item).map((field) => h("p", { class: "field-error", "data-problem-at": field }, icon("alert"), text.cart.wrong[field])),
      isProrata(item) ? h("small", { "data-prorata": true }, item.price.amount < 0 ? text.cart.deducted : text.cart.prorata) : ADDED.includes(item.origin) && h("small", { class: "tag", "data-added": true }, item.price.amount ? text.cart.added : text.cart.included),
      item.origin === "chosen" && h("div", { class: "line-edits" }, editor(item), isRemovable && remover(item))),
    h("span", { class: "amount" }, money(item.price)));

/**
 * The fields of an item that the club does not accept.
 * @param {Cart["items"][number]} item
 */
const wrongFields = ({ id }) =>
  FIELDS.filter((field) => get().registration?.cart.problems.some((problem) => id && problem.itemId === id && fieldAt(problem) === field));

/** The fields of an item, as pointers to it name them. */
const FIELDS = /** @type {const} */ (["startDate", "debit"]);

/**
 * Changes an item's start date and debit day, if it has them or needs them.
 * @param {Cart["items"][number]} item
 */
function editor(item) {
  const { id, name, startDate, debit } = item;
  const wrong = wrongFields(item);
  if (!(startDate || debit || wrong.length) || !can(get().registration, "clear_items")) return null;
  return button({ class: "link", id: `edit-${id}`, "data-edit": id, "aria-label": text.cart.editItem(name), onclick: edit }, text.cart.edit);

  /** The catalogue says what to ask for. Without it, as for a member's own offer, the visitor chooses again. */
  function edit() {
    const { registration, catalogue } = get();
    const found = findOffer(catalogue, item.offerId);
    if (found) askDays(found.offer, (changed) => changeItem(item, changed), { startDate, debitDay: debit?.day, isRefused: wrong.includes("startDate") }, text.offer.start.save);
    else go({ registration: registration?.id, step: "instead" });
  }
}

/** @param {Cart["items"][number]} item the item that the club system added this one for */
const parentOf = ({ parentId }) => get().registration?.cart.items.find(({ id }) => id && id === parentId);

/**
 * Whether a line is the first month's prorata: a charge for the days left, or a credit for the days gone.
 * @param {Cart["items"][number]} item
 */
function isProrata(item) {
  const parent = item.origin === "adjustment" ? parentOf(item) : undefined;
  return !!parent?.startDate && !parent.startDate.endsWith("-01") && !!findOffer(get().catalogue, parent.offerId)?.offer.prorated;
}

/** @param {Cart["items"][number]} item */
const remover = ({ id = "", name }) =>
  button({ class: "link", "data-remove": id, "aria-label": text.cart.removeItem(name), onclick: () => removeItem(id) }, text.cart.remove);

/** @param {Cart} cart */
function afterToday(cart) {
  const { catalogue } = get();
  if (!catalogue?.complete) return h("i", { class: "bone bone-follows", "aria-hidden": true });
  const bought = cart.items.flatMap((item) => findOffer(catalogue, item.offerId) ?? []);
  const lasting = bought.filter(({ offer }) => offer.billing || offer.commitment);
  const isKnown = cart.items.every(({ origin, offerId }) => origin !== "chosen" || findOffer(catalogue, offerId)); // the public list lacks a member's own offers
  if (isKnown && !lasting.length && !cart.dueNow.amount) return null;
  return h("section", { class: "panel", "aria-labelledby": "follows-heading" },
    h("h2", { id: "follows-heading" }, text.cart.follows),
    !isKnown && failed(),
    isKnown && !lasting.length && ticks([text.terms.nothingFollows]),
    lasting.map(({ product, offer }) =>
      h("div", { class: "follows" }, h("h3", {}, product.name), follows(offer, cartSchedules(get()).find((request) => request.offer === offer.id)))));
}

/**
 * The details as entered, so that the visitor sees typos. The gateway returns them masked, and so they are shown after a reload.
 * @param {Registration} registration
 */
function details(registration) {
  const { id, contact, guardian } = registration;
  const corrects = can(registration, "person");
  if (!contact || !(corrects || guardian)) return null;
  const { given } = get();
  const person = given?.registration === id ? given.person : undefined;
  return h("section", { class: "panel", "aria-labelledby": "details-heading", "data-details": person ? "entered" : "masked" },
    h("div", { class: "panel-head" },
      h("h2", { id: "details-heading" }, text.cart.details),
      (corrects || can(registration, "guardian")) && h("a", { href: linkTo({ registration: id, step: corrects ? "person" : "guardian" }), "data-correct": true, "aria-label": text.cart.correct }, text.cart.edit)),
    corrects && h("p", {}, (person ? lines(person) : maskedLines(registration)).flatMap((line) => [line, h("br")])),
    guardian && h("p", { "data-guardian-of-order": guardian.relation }, h("strong", {}, text.guardian.signs), h("br"),
      `${guardian.givenName} ${guardian.familyName} (${textFor(text.person.guardian.relations, guardian.relation) ?? ""})`, guardian.phoneEnding && [h("br"), `••• ${guardian.phoneEnding}`]),
    corrects && !person && h("p", { class: "fine" }, text.cart.masked),
    prospectLink(registration));
}

/** @param {import("../contract").Person} person */
const lines = ({ givenName, familyName, birthDate, email, mobile, address: { street, postalCode, city } }) =>
  [`${givenName} ${familyName}`, date(birthDate), email, mobile, street, `${postalCode} ${city}`];

/** @param {Registration} registration the number of a contact with a guardian is the guardian's */
const maskedLines = ({ guardian, contact: { givenName = "", mobileEnding, masked: { familyName = "", email } = {} } = /** @type {NonNullable<Registration["contact"]>} */ ({}) }) =>
  [`${givenName} ${familyName}`, email, !guardian && mobileEnding && `••• ${mobileEnding}`].filter((line) => line && line.trim());

/** @param {Registration} registration what is rarely wanted */
const more = (registration) =>
  h("details", { class: "more", "data-more": true, open: get().link?.registration === registration.id },
    h("summary", {}, text.cart.other, icon("down")),
    h("ul", { class: "edits" },
      h("li", {}, elsewhere(registration)),
      h("li", {}, leaveHere()),
      can(registration, "abandon") && !isSettled(registration) && h("li", {}, abandonButton())));

/** @param {Registration} registration */
const due = (registration) =>
  h("section", { class: "due", "aria-labelledby": "due-heading" },
    h("h2", { id: "due-heading" }, text.order.heading),
    toPay(registration),
    h("p", { class: "fine" }, text.cart.kept(moment(registration.expiresAt))));

/** @param {Registration} registration */
function toPay(registration) {
  const offered = ways(registration);
  if (!offered.length) {
    const isClosed = registration.cart.valid && !signsNext(registration);
    return [essentials(registration), signsNext(registration) && toSign(registration), isClosed && atClub(registration)];
  }
  const { repeat } = get();
  const asks = repeat?.registration === registration.id && repeat.way.cart === registration.cart.revision && !repeat.agreed;
  const latest = registration.next.find((one) => one.action === "pay")?.latestDueDate;
  const note = offered.includes("free") ? text.cart.confirmNote : offered.includes("card") && text.cart.payNote;
  return [
    signedMandate(registration),
    seller(registration.clubId),
    guarantee(registration),
    agreements(registration),
    note && h("p", { class: "fine pay-note" }, note),
    h("div", { class: "tear" }),
    asks ? [essentials(registration), asksRepeat()] : (offered.includes("card") || offered.includes("free")) && h("div", { class: "ordering" }, ordering(registration, payButton(registration))),
    latest && !asks && laterForm(registration, latest, !!registration.payment || !offered.includes("card")),
  ].flat();
}

/** @param {Registration} registration that can be paid only at the club */
const atClub = ({ clubId }) => h("div", { class: "notice", "data-at-club": true }, icon("info"), h("div", {}, h("p", {}, text.cart.notHere), contact(clubId)));

/**
 * Asks after a recent purchase of the same offer whether the visitor wants it again. "No" takes the place of the pay button,
 * with its focus: a double click, or Enter pressed twice, buys nothing. "Yes" brings the pay button back.
 */
const asksRepeat = () =>
  h("div", { class: "notice notice-block", role: "group", "aria-labelledby": "repeat", "aria-describedby": "repeat-why", "data-repeat": true },
    h("div", {},
      h("h3", { id: "repeat" }, text.cart.repeat.heading),
      h("p", { id: "repeat-why" }, text.cart.repeat.why),
      h("div", { class: "actions" },
        button({ class: "button button-wide", id: "pay", "data-keep-one": true, onclick: keepOne }, text.cart.repeat.no),
        button({ class: "button button-wide button-quiet", "data-pay-again": true, onclick: wantAgain }, text.cart.repeat.yes))));

/** @param {Registration} registration */
const signedMandate = ({ mandate }) =>
  mandate?.state === "signed" &&
  h("p", { class: "notice is-good", "data-mandate": "signed" }, icon("tick"), text.mandate.signed(mandate.iban));

/** @param {Registration} registration */
const toSign = (registration) =>
  h("div", { class: "to-sign" },
    h("p", { class: "notice" }, icon("repeat"), text.mandate.due),
    h("a", { class: "button button-wide", "data-mandate": registration.mandate?.state ?? "", href: linkTo({ registration: registration.id }) },
      can(registration, "sign") ? text.mandate.enter : text.mandate.open));

/** Problems that correcting the buyer's details can solve. The site cannot correct a member's. */
const ABOUT_THE_PERSON = ["age_restricted", "person_incomplete"];

/**
 * Whether staff may solve a problem while the cart stays the same, so that checking it again helps.
 * @param {Cart["problems"][number]} problem
 */
const mayPass = (problem) => problem.code !== "age_restricted" && !fieldAt(problem);

/**
 * The field of an item that a problem is about, as the pointer to it names it; undefined if it is about the whole item or cart.
 * @param {Cart["problems"][number]} problem
 */
const fieldAt = ({ pointer }) => pointer?.split("/")[3];

/**
 * The chosen items that the club does not sell to the visitor, if it sells the others.
 * @param {Registration} registration
 */
const wrongItems = (registration) =>
  registration.cart.items.filter(({ id, origin }) => origin === "chosen" && removable(registration) && registration.cart.problems.some((problem) => problem.itemId === id && !fieldAt(problem)));

/**
 * What prevents the payment, shown above everything else, and what helps.
 * @param {Registration} registration
 */
function problems(registration) {
  const { cart } = registration;
  if (cart.valid || signsNext(registration) || isSettled(registration)) return null;
  const corrects = can(registration, "person");
  const words = /** @type {Record<string, string>} */ ({ ...text.cart.problems, ...(!corrects && { age_restricted: text.cart.notForAge }) });
  const isAge = isTooYoungOrOld(registration);
  const completes = corrects && cart.problems.some(({ code }) => ABOUT_THE_PERSON.includes(code));
  return h("div", { class: "cart-problems", "data-cart-problems": true },
    h("h2", {}, text.cart.invalid),
    h("ul", {}, cart.problems.map((problem) => h("li", { "data-problem": problem.code }, words[problem.code] ?? problem.text))),
    h("div", { class: "actions actions-row" },
      completes && h("a", { class: "button", href: linkTo({ registration: registration.id, step: "person" }) }, text.cart.correct),
      wrongItems(registration).map(({ id = "", name }) => button({ class: "button button-quiet", "data-remove-wrong": id, onclick: () => removeItem(id) }, text.cart.removeItem(name))),
      ((isAge && !corrects) || !can(registration, "check")) && can(registration, "clear_items") && h("a", { class: completes ? "button button-quiet" : "button", href: linkTo({ registration: registration.id, step: "instead" }), "data-instead": true }, text.cart.instead),
      cart.problems.some(mayPass) && can(registration, "check") && button({ class: "button button-quiet", id: "check", "data-check": true, onclick: checkAgain }, text.cart.checkAgain)));
}

const skeleton = () =>
  h("div", { class: "review" },
    h("div", { class: "step-head" }, heading(h("span", { class: "sr-only" }, text.loading), h("i", { class: "bone bone-title" }))),
    h("div", { class: "review-columns", "aria-hidden": true },
      h("div", { class: "review-main" }, h("i", { class: "bone bone-box" })),
      h("i", { class: "bone bone-box" })));
