// @ts-check
/**
 * Who concludes the contract for a minor: the fields, which are a part of the form for the person, and the form that asks for nothing
 * else, because the club knows the rest.
 */
import { homeCountry, internationalNumber, isMobile } from "../countries.js";
import { h, heading, icon, working } from "../dom.js";
import { isAddress } from "../email.js";
import { accept, itemOf, putGuardian } from "../journey.js";
import { startKnown } from "../member.js";
import { can, linkTo } from "../route.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { backTo, backToCart } from "./back.js";
import { field as input, labelled, mark } from "./field.js";
import { privacyNotice } from "./legal.js";
import { fieldOf, fieldText } from "./problem.js";

/**
 * @typedef {import("../contract").Guardian} Guardian
 * @typedef {"guardianGivenName" | "guardianFamilyName" | "guardianRelation" | "guardianPhone" | "guardianEmail"} Name
 */

/**
 * The fields of a guardian, in a form of its own or in another one.
 * @param {(name: Name, attributes: import("../dom.js").Attributes) => HTMLElement} field
 * @param {(name: Name, options: [value: string, label: string][], autocomplete: string) => HTMLElement} choice
 */
export const guardianFields = (field, choice) => [
  row(field("guardianGivenName", { autocomplete: "section-guardian given-name", maxlength: 100 }), field("guardianFamilyName", { autocomplete: "section-guardian family-name", maxlength: 100 })),
  row(choice("guardianRelation", Object.entries(text.person.guardian.relations), "off"), field("guardianPhone", { type: "tel", autocomplete: "section-guardian tel", maxlength: 30 })),
  field("guardianEmail", { type: "email", autocomplete: "section-guardian email", maxlength: 254, required: false }),
];

/** @param {...HTMLElement} fields */
const row = (...fields) => h("div", { class: "row" }, ...fields);

/**
 * What a form has of a guardian, perhaps in part; undefined if nothing was typed.
 * @param {HTMLFormElement} form
 * @param {string} [country] whose numbers need no calling code
 * @returns {Guardian | undefined}
 */
export function guardianIn(form, country) {
  const value = (/** @type {string} */ name) => String(new FormData(form).get(name) ?? "").trim();
  const [givenName, familyName, phone, email] = [value("guardianGivenName"), value("guardianFamilyName"), value("guardianPhone"), value("guardianEmail")];
  if (!(givenName || familyName || phone || email)) return undefined;
  const relation = /** @type {Guardian["relation"]} */ (value("guardianRelation"));
  return { givenName, familyName, relation, phone: phone && internationalNumber(phone, country || homeCountry), ...(email && { email }) };
}

/**
 * @param {HTMLInputElement} control a field of a guardian
 * @param {Guardian} [guardian] as the form has it
 */
export function isRightOfGuardian(control, guardian) {
  if (control.name === "guardianPhone") return isMobile(guardian?.phone ?? "");
  if (control.name === "guardianEmail") return control.checkValidity() && (!control.value.trim() || isAddress(control.value));
  return control.checkValidity() && (!control.required || control.value.trim() !== "");
}

/** @param {import("../store.js").State} state */
export const reads = ({ place, registration, documents }) => [place, registration?.guardian, registration?.contact?.mobileEnding, can(registration, "person"), documents];

export function show() {
  const { place, registration } = get();
  const isReplaced = !!registration?.guardian;
  return h("div", {},
    h("div", { class: "step-head" },
      isReplaced ? backToCart(registration) : !registration && place.me && backTo({ me: true, club: place.club }, text.offer.all),
      heading(isReplaced ? text.guardian.correct : text.guardian.heading), h("p", { class: "lead" }, text.guardian.lead)),
    h("form", { class: "person", novalidate: true, "data-form": "guardian", onsubmit: submit },
      h("fieldset", { class: "group" }, h("legend", {}, text.person.guardian.heading), h("p", { class: "fine" }, text.person.guardian.why), guardianFields(field, choice)),
      h("div", { class: "actions" },
        h("button", { class: "button button-wide", id: "continue", "data-continue": true }, working(text.person.continue, text.cart.paying)),
        registration && can(registration, "person") && h("a", { href: linkTo({ registration: registration.id, step: "person", field: "birthDate" }), "data-correct": true }, text.guardian.birthDate),
        h("p", { class: "fine" }, icon("lock"), h("span", {}, text.person.privacy, " ", privacyNotice())))));
}

/** @type {Parameters<typeof guardianFields>[0]} */
function field(name, attributes) {
  const { registration } = get();
  const { givenName, familyName } = registration?.guardian ?? {};
  const value = { guardianGivenName: givenName, guardianFamilyName: familyName, guardianPhone: undefined, guardianEmail: undefined, guardianRelation: undefined }[name];
  const isKnown = !registration || !can(registration, "person");
  const { label, hint } = /** @type {import("./field.js").Words} */ (text.person.fields[name]);
  const words = { label, hint: name === "guardianPhone" && isKnown ? text.guardian.number(registration?.contact?.mobileEnding) : hint };
  return input(name, words, { required: true, value, ...attributes });
}

/** @type {Parameters<typeof guardianFields>[1]} */
const choice = (name, options, autocomplete) =>
  labelled(name, text.person.fields[name], (common) => h("select", { ...common, autocomplete }, options.map(([value, label]) =>
    h("option", { value, selected: value === get().registration?.guardian?.relation }, label))));

/** @param {Guardian} guardian */
function send(guardian) {
  const { place } = get();
  if (place.registration) return putGuardian(guardian);
  return place.invitation ? accept(place, guardian) : startKnown(itemOf(place), guardian);
}

/** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const guardian = guardianIn(form);
  const controls = [...form.querySelectorAll(/** @type {"input"} */ ("[data-field]"))];
  const wrong = controls.filter((control) => !isRightOfGuardian(control, guardian)).map(({ name }) => [name, fieldText({ pointer: name, text: "" })]);
  mark(form, Object.fromEntries(wrong));
  if (wrong.length || !guardian) return;
  const problem = await send(guardian);
  const shown = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-form="guardian"]')); // another one if the page has changed meanwhile
  if (shown) mark(shown, Object.fromEntries((problem?.errors ?? []).map((error) => [nameOf(error.pointer), fieldText(error)])));
}

/**
 * The name of the field that a pointer into a guardian, or into a body with one, names.
 * @param {string | undefined} pointer
 */
const nameOf = (pointer) => fieldOf(pointer?.includes("guardian") ? pointer : `guardian${pointer}`);
