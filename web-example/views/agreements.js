// @ts-check
/**
 * What the visitor agrees to with the order, above its essential terms: sentences with links to the exact documents, and a box
 * for what the visitor must ask for, which is never ticked in advance.
 */
import { h } from "../dom.js";
import { agreedTo, agreeTo, askForAgreements, listed } from "../journey.js";
import { text, textFor } from "../text.js";
import { accepting } from "./legal.js";
import { markOne } from "./field.js";

/**
 * @typedef {import("../contract").Registration} Registration
 * @typedef {import("../contract").NeededAgreement} Agreement
 */

/** Documents that the order's sentences name. Any other one has a box of its own. */
const SAID = /** @type {const} */ ({ terms: "accept", privacy: "read", withdrawal_information: "read" });

/** @param {Registration} registration */
export function agreements(registration) {
  const { order, guardian } = registration;
  const needed = order?.agreements ?? [];
  const party = guardian && h("p", { class: "accepting", "data-party": guardian.relation }, text.agreements.guardian(`${guardian.givenName} ${guardian.familyName}`));
  if (!needed.length) return party ? h("div", { class: "agreements" }, party, accepting("pay", registration)) : accepting("pay", registration);
  const said = Map.groupBy(needed, ({ document }) => textFor(SAID, document));
  return h("div", { class: "agreements", "data-agreements": needed.length }, party,
    [...said].flatMap(([how, some]) => how
      ? h("p", { class: "accepting", "data-accept": how === "accept" ? "pay" : how }, text.agreements[how], " ", some.flatMap((one, at) => (at ? [" · ", link(one)] : [link(one)])))
      : some.map((one) => box(one, registration.id))));
}

/**
 * @param {Agreement} agreement
 * @param {string} registration
 */
function box(agreement, registration) {
  const { document: name } = agreement;
  const words = textFor(text.agreements.boxes, name) ?? { label: text.agreements.other, why: "" };
  const id = `agree-${name}`;
  const input = h("input", {
    type: "checkbox", id, name: id, required: true, "data-agree": name, "aria-describedby": `${id}-why ${id}-error`,
    onchange: () => {
      agreeTo(name, input.checked);
      markOne(input, "");
    },
  });
  const { documents, asked } = agreedTo(registration);
  input.checked = documents.includes(name);
  const field = h("div", { class: "field agreement" },
    h("label", { for: id }, input, h("span", {}, words.label)),
    h("p", { class: "hint", id: `${id}-why` }, words.why, " ", link(agreement)),
    h("p", { class: "field-error", id: `${id}-error`, "data-agree-error": name }));
  if (asked && !input.checked) markOne(input, text.agreements.missing);
  return field;
}

/**
 * The link to the exact text, in a new tab, so that the input here is kept.
 * @param {Agreement} agreement
 */
function link(agreement) {
  const { document: name } = agreement;
  const words = nameOf(name);
  const found = listed(agreement);
  if (!found) return h("span", { "data-document": name }, words);
  return h("a", { href: found.url, target: "_blank", rel: "noopener", "data-document": name }, words, h("span", { class: "sr-only" }, ` ${text.legal.tab}`));
}

/** @param {string} name of a document */
export const nameOf = (name) => textFor(text.agreements.names, name) ?? name;

/** Whether every box is ticked. Otherwise the first one without a tick gets the focus, and says what is missing. */
export function isAgreed() {
  if (document.querySelector("[data-agree]:not(:checked)")) askForAgreements();
  const boxes = [...document.querySelectorAll(/** @type {"input"} */ ("[data-agree]"))];
  for (const one of boxes) markOne(one, one.checked ? "" : text.agreements.missing);
  const first = boxes.find((one) => !one.checked);
  first?.focus();
  return !first;
}
