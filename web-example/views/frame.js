// @ts-check
/** Everything around the step: the parts of index.html in the visitor's language, and the choice of language. */
import { button, icon } from "../dom.js";
import { choose, language, LANGUAGES, text } from "../text.js";
import { legalLinks } from "./legal.js";
import { statementLinks } from "./statement.js";

/**
 * @param {() => void} sayAgain shows the step again, once another language has been chosen
 */
export function frame(sayAgain) {
  const texts = /** @type {Record<string, any>} */ (text);
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = texts[/** @type {HTMLElement} */ (element).dataset.text ?? ""];
  }
  document.documentElement.lang = language;
  label("[data-progress]", text.progress.label);
  footer();
  label("[data-statement-links]", text.statements.label).replaceChildren(...statementLinks());
  label("[data-languages]", text.languages).replaceChildren(...others(sayAgain));
}

/** The footer's links: to the documents of the club that the page is about, which are those that its orders name. */
export function footer() {
  const place = label("[data-legal-links]", text.legal.label);
  const links = legalLinks("terms", "privacy", "legal", "accessibility");
  const isSame = links.length === place.children.length && links.every((link, at) => link.isEqualNode(place.children[at]));
  if (!isSame) place.replaceChildren(...links);
}

/**
 * @param {string} hook
 * @param {string} words
 */
function label(hook, words) {
  const element = /** @type {HTMLElement} */ (document.querySelector(hook));
  element.ariaLabel = words;
  return element;
}

/** @param {() => void} sayAgain */
const others = (sayAgain) =>
  Object.entries(LANGUAGES).filter(([code]) => code !== language).map(([code, { name }]) =>
    button({ class: "language", lang: code, "data-language": code, onclick: () => change(code, sayAgain) }, icon("globe"), name));

/**
 * @param {string} code
 * @param {() => void} sayAgain
 */
function change(code, sayAgain) {
  choose(code);
  frame(sayAgain);
  sayAgain();
  /** @type {HTMLElement | null} */ (document.querySelector("[data-language]"))?.focus();
}

/**
 * Stores the page's input, ticks and open sections.
 * @returns {() => void} puts it back, once the same elements are there again
 */
export function keepTyped() {
  const fields = () => [...document.querySelectorAll(/** @type {"input"} */ ("main :is(input, select, textarea)"))];
  const folds = () => [...document.querySelectorAll("details")];
  const typed = fields().map(({ value, checked }) => ({ value, checked }));
  const open = folds().map((fold) => fold.open);
  return () => {
    fields().forEach((field, at) => Object.assign(field, typed[at]));
    folds().forEach((fold, at) => (fold.open = open[at] ?? fold.open));
    for (const field of fields()) field.dispatchEvent(new Event("input", { bubbles: true }));
  };
}
