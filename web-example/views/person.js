// @ts-check
/** The third step: enter the buyer's details, or correct them. */
import { countries, homeCountry, internationalNumber, isMobile, isPostalCode } from "../countries.js";
import { button, h, heading, icon, working } from "../dom.js";
import { personDraft } from "../draft.js";
import { isAddress, meantAddress } from "../email.js";
import { today } from "../format.js";
import { correct, correctSome, DAYS, leave, refuses, start, unconfirmedPerson } from "../journey.js";
import { afterCorrection, can, isTooYoungOrOld, linkTo } from "../route.js";
import { get, set } from "../store.js";
import { agesOf, findOffer, isOfAge } from "../terms.js";
import { text } from "../text.js";
import { backTo } from "./back.js";
import { errorOf, labelled, markOne } from "./field.js";
import { chooseAgain } from "./offer.js";
import { guardianFields, guardianIn, isRightOfGuardian } from "./guardian.js";
import { privacyNotice } from "./legal.js";
import { fieldOf, fieldText } from "./problem.js";
import { mayStart, resume } from "./resume.js";

/** @typedef {import("../contract").Person} Person */

const FIELDS = text.person.fields;

/** The earliest birth date that the form accepts. */
const EARLIEST_BIRTH = "1900-01-01";

/** In years: a younger buyer has probably mistyped the year, unless the offer is for certain ages. */
const YOUNG = 10;

/** Whether the club has the details and this page does not: the form then sends only what is changed. */
const isCorrection = () => {
  const { place, registration, given } = get();
  return !!place.registration && !!registration?.contact && given?.registration !== place.registration;
};

/** @param {import("../store.js").State} state */
export const reads = (state) => [state.place, isGone(state), state.inProgress, state.identity, wrongAge(state), isCorrection(), state.documents];

/** @param {import("../store.js").State} state */
const wrongAge = ({ place, registration }) => !!place.registration && isTooYoungOrOld(registration);

export function show() {
  const { place } = get();
  if (isGone(get())) return gone();
  const form = h("form", { class: "person", novalidate: true, "data-form": "person", onsubmit: submit, oninput: keep, onchange: readNumber, onkeydown: toNextField },
    group(text.person.about,
      row(field("givenName", { autocomplete: "given-name", maxlength: 100 }), field("familyName", { autocomplete: "family-name", maxlength: 100 })),
      row(field("birthDate", { type: "date", autocomplete: "bday", min: EARLIEST_BIRTH, max: today(), onblur: (/** @type {any} */ event) => askAge(event.currentTarget) }), choice("gender", genders(), "sex"))),
    guardianGroup(),
    group(text.person.reach,
      field("email", { type: "email", autocomplete: "email", maxlength: 254, onchange: (/** @type {any} */ event) => askDomain(event.currentTarget) }),
      field("mobile", { type: "tel", autocomplete: "tel", maxlength: 30 })),
    group(text.person.live,
      field("street", { autocomplete: "address-line1", maxlength: 200 }),
      row(field("postalCode", { autocomplete: "postal-code", maxlength: 20 }), field("city", { autocomplete: "address-level2", maxlength: 100 })),
      choice("country", isCorrection() ? [["", text.person.unchanged], ...countries()] : countries(), "country")),
    h("div", { class: "actions" },
      h("button", { class: "button button-wide", id: "continue", "data-continue": true },
        working(place.registration ? text.person.save : text.person.continue, text.cart.paying)),
      h("p", { class: "fine" }, icon("lock"), h("span", {}, text.person.privacy, " ", privacyNotice()))));
  fill(form);
  showGuardian(form);
  markAge(form);
  return h("div", {}, head(), resume(), form);
}

/** Who concludes the contract for a minor: hidden, and not sent, until the birth date makes it needed. */
const guardianGroup = () =>
  h("fieldset", { class: "group", "data-guardian": true, hidden: true, disabled: true },
    h("legend", {}, text.person.guardian.heading),
    h("p", { class: "fine" }, text.person.guardian.why),
    guardianFields(field, choice));

/**
 * Whether the club asks for a guardian of a buyer with this birth date, on the club's day.
 * @param {string} birthDate
 */
function needsGuardian(birthDate) {
  const { guardianBelow, timeZone, startDates: days } = get().details ?? {};
  const day = (timeZone && days?.earliest) || today();
  return !!guardianBelow && !!birthDate && !isOfAge({ ages: { min: guardianBelow } }, birthDate, day);
}

/**
 * Shows the guardian's fields if they are needed, or can be corrected.
 * @param {HTMLFormElement} form
 * @param {boolean} [asked] whether the gateway asks for them
 */
function showGuardian(form, asked = false) {
  const group = /** @type {HTMLFieldSetElement} */ (form.querySelector("[data-guardian]"));
  const birthDate = /** @type {HTMLInputElement} */ (form.elements.namedItem("birthDate"));
  const has = get().place.registration && get().registration?.guardian && !(birthDate.value && birthDate.validity.valid);
  if (asked) group.dataset.guardian = "asked"; // whatever this page knows of the club
  group.hidden = group.disabled = !(group.dataset.guardian === "asked" || has || (birthDate.validity.valid && needsGuardian(birthDate.value)));
}

const genders = () => Object.entries(isCorrection() ? { ...text.person.gender, "": text.person.unchanged } : text.person.gender);

/** @param {import("../store.js").State} state whether the offer that the address names cannot be bought */
function isGone({ place, catalogue }) {
  return !place.registration && !!catalogue?.complete && !findOffer(catalogue, place.offer);
}

const gone = () =>
  h("div", {},
    h("div", { class: "step-head" }, heading(text.person.gone)),
    resume(),
    h("div", { class: "actions" }, h("a", { class: "button", href: linkTo({ club: get().place.club }) }, text.offer.all)));

function head() {
  const { place } = get();
  const notice = place.registration ? isCorrection() && text.person.partly : unconfirmedPerson() && text.person.unconfirmed;
  return h("div", { class: "step-head" },
    backTo(place.registration ? afterCorrection(place) : { club: place.club }),
    heading(place.registration ? text.person.correcting : text.person.heading),
    !isCorrection() && h("p", { class: "lead" }, text.person.lead),
    notice && h("p", { class: "notice", "data-notice": true }, icon("info"), notice),
    get().registration?.mandate?.state === "signed" && place.registration && h("p", { class: "notice", "data-signs-again": true }, icon("repeat"), text.person.signsAgain),
    wrongAge(get()) && can(get().registration, "clear_items") && h("a", { href: linkTo({ registration: place.registration, step: "instead" }), "data-instead": true }, text.cart.instead));
}

/**
 * @param {string} title
 * @param {...HTMLElement} fields
 */
const group = (title, ...fields) => h("fieldset", { class: "group" }, h("legend", {}, title), ...fields);

/** @param {...HTMLElement} fields */
const row = (...fields) => h("div", { class: "row" }, ...fields);

/**
 * @param {keyof typeof FIELDS} name
 * @param {import("../dom.js").Attributes} attributes
 */
const field = (name, attributes) =>
  labelled(name, wordsOf(name), (common) => h("input", { type: "text", required: true, enterkeyhint: isCorrection() ? "go" : "next", ...common, ...attributes }));

/**
 * @param {keyof typeof FIELDS} name
 * @param {[value: string, label: string][]} options
 * @param {string} autocomplete
 */
const choice = (name, options, autocomplete) =>
  labelled(name, wordsOf(name), (common) => h("select", { ...common, autocomplete }, options.map(([value, label]) => h("option", { value }, label))));

/** @param {keyof typeof FIELDS} name */
function wordsOf(name) {
  const known = isCorrection() && saved()[name];
  const { label, hint } = /** @type {import("./field.js").Words} */ (FIELDS[name]);
  return { label, hint: [known && text.person.saved(known), hint].filter(Boolean).join(" · ") };
}

/** What the club has of the details, masked. @returns {Partial<Record<keyof typeof FIELDS, string>>} */
function saved() {
  const { contact, guardian } = get().registration ?? {};
  const { givenName, mobileEnding, masked } = contact ?? {};
  const guardians = guardian && { guardianGivenName: guardian.givenName, guardianFamilyName: guardian.familyName };
  const phone = { [guardian ? "guardianPhone" : "mobile"]: mobileEnding && `••• ${mobileEnding}` }; // codes go there
  return { givenName, ...guardians, ...phone, birthDate: masked?.birthYear, ...masked };
}

/**
 * Fills the form with earlier input: from this page or, for a new sign-up, from before a reload or from an attempt without
 * a response.
 * @param {HTMLFormElement} form
 */
function fill(form) {
  const { place, person } = get();
  const { address, guardian = {}, ...known } = place.registration ? person : { ...unconfirmedPerson(), ...personDraft.kept() };
  const guardians = Object.fromEntries(Object.entries(guardian).map(([name, value]) => [fieldOf(`guardian/${name}`), value]));
  const values = Object.entries({ country: isCorrection() ? "" : homeCountry, ...known, ...address, ...guardians });
  for (const [name, value] of values) {
    const control = form.elements.namedItem(name);
    if (control instanceof HTMLInputElement) control.defaultValue = value ?? ""; // it is not what the visitor is typing
    if (control instanceof HTMLSelectElement) control.value = value ?? "";
  }
}

/** @param {HTMLFormElement} form */
function personOf(form) {
  const value = (/** @type {string} */ name) => String(new FormData(form).get(name) ?? "").trim();
  const gender = /** @type {Person["gender"]} */ (value("gender") || undefined);
  const guardian = guardianIn(form, value("country"));
  return /** @type {Person} */ ({
    givenName: value("givenName"), familyName: value("familyName"), birthDate: value("birthDate"),
    email: value("email"), mobile: internationalNumber(value("mobile"), value("country") || homeCountry), ...(gender && { gender }),
    address: { street: value("street"), postalCode: value("postalCode"), city: value("city"), country: value("country") },
    ...(guardian && { guardian }),
  });
}

/**
 * The fields that were filled in.
 * @param {Person} person
 * @returns {import("../contract").PersonCorrection}
 */
function filled({ address, ...person }) {
  const typed = (/** @type {object} */ fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
  const where = typed(address);
  return { ...typed(person), ...(Object.keys(where).length > 0 && { address: where }) };
}

/** @param {Event & { currentTarget: HTMLFormElement, target: HTMLElement }} event */
function keep({ currentTarget, target }) {
  showGuardian(currentTarget);
  const person = personOf(currentTarget);
  set({ person });
  if (!get().place.registration) personDraft.keep(person);
  if (errorOf(target)?.hasChildNodes()) markOne(/** @type {HTMLInputElement} */ (target), "");
}

/**
 * On a touch screen, Enter goes to the next empty field, as its key says. Without one, it sends the form, as everywhere else.
 * @param {KeyboardEvent & { currentTarget: HTMLFormElement }} event
 */
function toNextField(event) {
  const { key, isComposing, target, currentTarget: form } = event;
  if (key !== "Enter" || isComposing || isCorrection() || !matchMedia("(pointer: coarse)").matches) return;
  const inputs = [...form.querySelectorAll(/** @type {"input"} */ ("input:enabled"))];
  const next = target instanceof HTMLInputElement && inputs.slice(inputs.indexOf(target) + 1).find(({ value }) => !value);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** How the numbers that this page shows in international form were typed. @type {Map<string, string>} */
const asTyped = new Map();

/**
 * Shows a phone number as it will be sent, so that the visitor can check it. The country is chosen after it, and says how
 * to read a number in national form: the number as it was typed is then read again.
 * @param {Event & { currentTarget: HTMLFormElement, target: HTMLElement }} event
 */
function readNumber({ currentTarget: form, target }) {
  const mobile = /** @type {HTMLInputElement} */ (form.elements.namedItem("mobile"));
  const country = /** @type {HTMLSelectElement} */ (form.elements.namedItem("country"));
  const typed = target === mobile ? mobile.value : target === country && asTyped.get(mobile.value);
  if (!typed) return;
  const number = internationalNumber(typed, country.value || homeCountry);
  mobile.value = isMobile(number) ? number : typed;
  asTyped.set(mobile.value, typed);
  mobile.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * Asks about an e-mail address whose domain looks like a misspelt common one.
 * @param {HTMLInputElement} input
 */
function askDomain(input) {
  const meant = meantAddress(input.value.trim());
  const place = errorOf(input);
  if (!meant || !place) return;
  place.replaceChildren(icon("info"), button({ class: "link", "data-meant": meant, onclick: take }, text.person.meant(meant)));

  function take() {
    input.value = meant ?? "";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    place?.replaceChildren();
    input.focus();
  }
}

/**
 * Says whether the offer in the address is for another age, if the club has set its ages; otherwise, asks about the year of
 * a child's birth.
 * @param {HTMLInputElement} input
 */
function askAge(input) {
  const { place, catalogue } = get();
  const found = !place.registration && findOffer(catalogue, place.offer);
  if (!found || !input.value || !input.checkValidity()) return;
  if (!isOfAge(found.offer, input.value, place.startDate ?? today())) markOne(input, text.person.age(agesOf(found.offer)));
  else if (!agesOf(found.offer) && Number(today().slice(0, 4)) - Number(input.value.slice(0, 4)) < YOUNG) errorOf(input)?.replaceChildren(icon("info"), FIELDS.birthDate.past);
}

/** @param {Person} person as it was typed, perhaps in part */
function send(person) {
  if (!get().place.registration) return start(person);
  if (!isCorrection()) return correct(person);
  const changes = filled(person);
  return Object.keys(changes).length > 0 ? correctSome(changes) : leave();
}

/** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  showGuardian(form); // the club's rule may have arrived since
  const controls = [...form.querySelectorAll(/** @type {"input"} */ ("[data-field]:enabled"))];
  for (const control of controls) markOne(control, isRight(control, form) ? "" : errorFor(control));
  askDomain(/** @type {HTMLInputElement} */ (form.elements.namedItem("email")));
  askAge(/** @type {HTMLInputElement} */ (form.elements.namedItem("birthDate")));
  if (focusFirstWrong(form)) return;
  const person = personOf(form);
  set({ person });
  const { place } = get();
  if (!place.registration && !((await mayStart()) && get().place === place)) return;
  const problem = await send(person);
  if (problem && get().place !== place && refuses(problem, ...DAYS)) return chooseAgain(place, problem);
  const shown = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-form="person"]')); // perhaps another one meanwhile
  if (!shown) return;
  if (problem?.errors.some(({ pointer }) => fieldOf(pointer).startsWith("guardian"))) showGuardian(shown, true);
  for (const error of problem?.errors ?? []) {
    const control = shown.querySelector(/** @type {"input"} */ (`[data-field="${CSS.escape(fieldOf(error.pointer))}"]`));
    if (control) markOne(control, fieldText(error));
  }
  markAge(shown);
  focusFirstWrong(shown);
}

/**
 * Shows at the birth date that an offer in the cart is not for that age.
 * @param {HTMLFormElement} form
 */
function markAge(form) {
  const birthDate = /** @type {HTMLInputElement} */ (form.elements.namedItem("birthDate"));
  if (wrongAge(get())) markOne(birthDate, text.cart.problems.age_restricted);
}

/**
 * @param {HTMLInputElement} control
 * @param {HTMLFormElement} form
 */
function isRight(control, form) {
  const { guardian, birthDate, address } = personOf(form);
  const mayStay = isCorrection() && !(control.name.startsWith("guardian") && (guardian || needsGuardian(birthDate)));
  if (mayStay && control.value.trim() === "") return true; // it stays unchanged
  if (control.name.startsWith("guardian")) return isRightOfGuardian(control, guardian);
  if (control.name === "mobile") return isMobile(personOf(form).mobile);
  if (control.name === "email") return control.checkValidity() && isAddress(control.value);
  if (control.name === "postalCode") return isPostalCode(control.value.trim(), address.country || homeCountry);
  return control.checkValidity() && (!control.required || control.value.trim() !== "");
}

/** @param {HTMLInputElement} control */
function errorFor({ name, validity }) {
  if (name === "birthDate" && validity.rangeOverflow) return FIELDS.birthDate.future;
  if (name === "birthDate" && validity.rangeUnderflow) return FIELDS.birthDate.past;
  if (name === "postalCode" && validity.valueMissing) return FIELDS.postalCode.empty;
  return fieldText({ pointer: name, text: "" });
}

/** @param {HTMLFormElement} form */
function focusFirstWrong(form) {
  const wrong = form.querySelector(/** @type {"input"} */ ("[aria-invalid='true']"));
  wrong?.focus();
  return !!wrong;
}
