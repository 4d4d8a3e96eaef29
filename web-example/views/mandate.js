// @ts-check
/** The step between cart and payment: enter the bank account, then sign with the SMS code (signature.js). */
import { h, heading, icon, working } from "../dom.js";
import { date, money } from "../format.js";
import { cartSchedules, giveAccount, scheduleKey } from "../journey.js";
import { isKnown } from "../route.js";
import { get, set } from "../store.js";
import { findOffer } from "../terms.js";
import { text } from "../text.js";
import { backToCart } from "./back.js";
import { changes } from "./changes.js";
import { field, mark, markOne } from "./field.js";
import { accepting, debitConsent } from "./legal.js";
import { said } from "./message.js";
import { planFor } from "./plan.js";
import { fieldOf, fieldText } from "./problem.js";
import { prospectLink } from "./prospect.js";
import { byGuardian, correction, signature } from "./signature.js";

const FIELDS = text.mandate.fields;

/** @param {import("../store.js").State} state */
export const reads = ({ registration, details, catalogue, schedules, given, problem }) =>
  [registration?.mandate, details, shownOf(registration), registration?.next.map(({ action }) => action).join(), catalogue?.complete && catalogue.products, schedules, given, problem?.code === "mobile_unreachable"];

/**
 * What the page shows of the cart and the contact, compared by value: a new object alone must not replace a form.
 * @param {import("../contract").Registration} [registration]
 */
const shownOf = (registration) => JSON.stringify([registration?.message, registration?.cart.changes, registration?.cart.stale, registration?.contact?.mobileEnding, registration?.guardian]);

export function show() {
  const { registration } = get();
  if (!registration) return null;
  const { mandate } = registration;
  const signing = mandate && mandate.state !== "cancelled" && mandate.state !== "signed";
  return h("div", {}, signing ? signature(registration, mandate) : account(registration));
}

/** @param {import("../contract").Registration} registration */
function account(registration) {
  const known = typed(registration);
  const isUnreachable = get().problem?.code === "mobile_unreachable";
  return h("div", {},
    h("div", { class: "step-head" }, backToCart(registration), heading(text.mandate.heading), h("p", { class: "lead" }, text.mandate.lead(registration.contact?.mobileEnding ?? "")),
      !isUnreachable && correction(registration, false)),
    !isKnown(registration) && said(registration),
    changes(registration.cart),
    h("form", { class: "person", novalidate: true, "data-form": "mandate", onsubmit: submit, onchange: keep },
      isUnreachable && correction(registration, true),
      h("fieldset", { class: "group" }, h("legend", {}, text.mandate.account),
        byGuardian(registration) ?? field("holder", FIELDS.holder, { autocomplete: "name", maxlength: 140, required: true, value: known.holder ?? buyer(registration) }),
        field("iban", FIELDS.iban, { autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 50, required: true, class: "account-number", value: known.iban, onchange: readIBAN }),
        field("bic", FIELDS.bic, { autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 11, class: "account-number", value: known.bic })),
      debits(),
      h("div", { class: "actions" },
        debitConsent(registration),
        accepting("sign", registration),
        h("button", { class: "button button-wide", id: "send-code", "data-continue": true }, working(text.mandate.send, text.mandate.sending)),
        h("p", { class: "fine" }, icon("lock"), text.mandate.privacy),
        prospectLink(registration))));
}

/**
 * The account as the visitor has typed it before, such as before correcting the mobile number.
 * @param {import("../contract").Registration} registration
 * @returns {Partial<NonNullable<import("../store.js").State["account"]>>}
 */
function typed({ id }) {
  const { account } = get();
  return account?.registration === id ? account : {};
}

/**
 * The buyer's name, if this page knows it: most people pay from an account of their own.
 * @param {import("../contract").Registration} registration
 */
function buyer({ id }) {
  const { given } = get();
  return given?.registration === id ? `${given.person.givenName} ${given.person.familyName}` : "";
}

/**
 * Keeps what is typed, to fill the form again until the mandate is signed.
 * @param {Event & { target: HTMLInputElement }} event
 */
function keep({ target: { name, value } }) {
  const { registration } = get();
  if (registration) set({ account: { ...typed(registration), registration: registration.id, [name]: value } });
}

/** What the account will be debited, and when, before the signature. It is folded, because the visitor has seen it before. */
function debits() {
  const requests = cartSchedules(get());
  return requests.length > 0 && h("details", { class: "panel debits", id: "debits", "data-debits": requests.length },
    h("summary", {}, h("span", {}, text.plan.heading, firstDebit(requests)), icon("down")),
    requests.flatMap((request) => [
      requests.length > 1 && h("h3", {}, findOffer(get().catalogue, request.offer)?.product.name),
      planFor(request),
    ]));
}

/**
 * The day and amount of the first debit, or of several on that day.
 * @param {import("../journey.js").ScheduleRequest[]} requests
 */
function firstDebit(requests) {
  const debits = requests.flatMap((request) => get().schedules[scheduleKey(request)]?.firstStatement ?? []).filter(({ kind }) => kind === "debit");
  const day = debits.map((debit) => debit.date).sort()[0];
  const amounts = debits.filter((debit) => debit.date === day).map(({ price }) => money(price));
  return day && h("small", {}, text.mandate.first(date(day), amounts.join(" + ")));
}

/**
 * Shows the IBAN in groups of four, as bank cards and statements do, and says at once whether its check digits are wrong.
 * @param {Event & { currentTarget: HTMLInputElement }} event
 */
function readIBAN({ currentTarget: input }) {
  const iban = input.value.toUpperCase().replace(/\s/g, "");
  input.value = (iban.match(/.{1,4}/g) ?? []).join(" ");
  markOne(input, iban && !isIBAN(iban) ? FIELDS.iban.wrong : "");
}

/** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const value = (/** @type {string} */ name) => String(new FormData(form).get(name) ?? "").trim();
  const guardian = get().registration?.guardian; // the mandate names no other holder
  const [holder, iban, bic] = [guardian ? `${guardian.givenName} ${guardian.familyName}` : value("holder"), value("iban"), value("bic")];
  const errors = { ...(!holder && { holder: FIELDS.holder.error }), ...(!isIBAN(iban) && { iban: iban ? FIELDS.iban.wrong : FIELDS.iban.empty }) };
  mark(form, errors);
  if (Object.keys(errors).length) return;
  const problem = await giveAccount({ holder, iban, ...(bic && { bic }) });
  const shown = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-form="mandate"]')); // another one if the page has changed meanwhile
  if (shown) mark(shown, Object.fromEntries((problem?.errors ?? []).map((error) => [fieldOf(error.pointer), fieldText(error)])));
}

/**
 * Whether the check digits of an IBAN are right (ISO 13616): with its first four characters at the end and letters as 10 to 35, it is
 * 1 modulo 97.
 * @param {string} iban with or without spaces
 */
function isIBAN(iban) {
  const bare = iban.replace(/\s/g, "").toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(bare)) return false;
  const digits = (bare.slice(4) + bare.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
}
