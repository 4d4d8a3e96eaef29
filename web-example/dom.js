// @ts-check
/** Making elements. Text only ever enters as text, never as markup. */
import { moneyParts } from "./format.js";

/**
 * @typedef {Node | string | number | false | null | undefined} Child
 * @typedef {Record<string, string | number | boolean | undefined | ((event: any) => void)>} Attributes
 */

/**
 * An element: `h("a", { href, "data-club": id, onclick }, name)`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes] a function is a listener; false and undefined leave the attribute out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().flatMap((child) => (isNothing(child) ? [] : [/** @type {Node | string} */ (child)])));
  return element;
}

/** @param {Child} child */
const isNothing = (child) => child === false || child === null || child === undefined;

/**
 * A decorative icon from the sprite icons.svg, hidden from screen readers.
 * @param {string} name the symbol's id
 */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `icons.svg#${name}`);
  svg.append(use);
  return svg;
}

/**
 * The heading that gets the focus when its step appears.
 * @param {...Child} children
 */
export const heading = (...children) => h("h1", { tabindex: -1, "data-heading": true }, ...children);

/**
 * A list of short sentences with an icon each.
 * @param {(string | { words: string, picture: string })[]} lines a bare sentence gets a tick
 */
export const ticks = (lines) =>
  h("ul", { class: "ticks" }, lines.map((line) => {
    const { words, picture } = typeof line === "string" ? { words: line, picture: "tick" } : line;
    return h("li", {}, icon(picture), h("span", {}, words));
  }));

/**
 * One of an offer's terms: its label, its text, and the notes below.
 * @param {import("./terms.js").Term[]} lines
 */
export function termList(lines) {
  if (!lines.length) return null;
  const [titled, notes] = [true, false].map((is) => lines.filter(({ about }) => !!about === is));
  return h("div", { class: "terms" },
    titled.length > 0 && h("dl", {}, [...Map.groupBy(titled, ({ about }) => about)].map(([about, alike]) =>
      h("div", {}, h("dt", {}, about), alike.map(({ words }) => h("dd", {}, words))))),
    notes.map(({ words }) => h("p", { class: "fine" }, icon("info"), h("span", {}, words))));
}

/**
 * A prominent price with smaller cents. Screen readers and the clipboard get it as plain text.
 * @param {import("./contract").Money} amount
 */
export const price = (amount) =>
  h("strong", { class: "amount price-tag" }, moneyParts(amount).map(({ type, value }) =>
    type === "decimal" || type === "fraction" ? h("span", { class: "cents" }, value) : value));

/**
 * A button. While something is in progress for the visitor, main.js disables every button of the step.
 * @param {Attributes} attributes
 * @param {...(Child | Child[])} children
 */
export const button = (attributes, ...children) => h("button", { type: "button", ...attributes }, ...children);

/**
 * A button's words, and others while it is at work: the style sheets show one of them.
 * @param {string} idle
 * @param {string} busy
 */
export const working = (idle, busy) => [h("span", { class: "when-idle" }, idle), h("span", { class: "when-busy" }, busy)];

/**
 * A modal dialog. It closes when one of its forms is submitted.
 * @param {string} title
 * @param {...Child} children
 */
export function ask(title, ...children) {
  const dialog = h("dialog", { class: "dialog", "data-dialog": true, "aria-labelledby": "dialog-title" },
    h("h2", { id: "dialog-title" }, title), ...children);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
