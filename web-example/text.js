// @ts-check
/**
 * The texts in the visitor's language, and which that is: the one that `?lang=` names, else the one that was chosen here
 * before, else the first of the browser's that there is. Another language is a file: copy text.en.js, translate it, name
 * it in LANGUAGES. All of them come with the page, so that changing the language needs no connection.
 */
import english from "./text.en.js";
import french, { typeset } from "./text.fr.js";

/**
 * What a catalogue has to have so that it says everything that another one says.
 * @template Part
 * @typedef {Part extends string ? string : Part extends (...facts: infer Facts) => string ? (...facts: Facts) => string : { [Key in keyof Part]: Texts<Part[Key]> }} Texts
 */

/**
 * @typedef {object} Language
 * @property {string} name in the language itself
 * @property {string} locale for amounts and dates, where the browser has no preference among the language's
 * @property {Texts<typeof english>} texts
 * @property {(words: string) => string} [typeset] makes a text fit for print
 */

/** @type {Record<string, Language>} */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB", texts: english },
  fr: { name: "Français", locale: "fr-FR", texts: french, typeset },
};

/** Where this browser remembers what was chosen. */
const CHOSEN = "frontdesk.language";

/** The language of the texts, for `<html lang>`. */
export let language = "en";

/** How amounts and dates are written: in that language, by the rules of the visitor's own region. */
export let locale = "en-GB";

/** The catalogue. It stays the same object in every language, down to its leaves, so parts of it can be kept. */
export const text = /** @type {typeof english & { brand: string }} */ ({ brand: document.title });

/**
 * Speaks a language from now on. Whatever is on the page already has to be shown again.
 * @param {string} wanted one of LANGUAGES
 */
export function speak(wanted) {
  language = wanted;
  const { texts, typeset: finish, ...chosen } = LANGUAGES[wanted];
  locale = navigator.languages.find((tag) => tag.startsWith(`${wanted}-`)) ?? chosen.locale;
  fill(text, english);
  fill(text, texts, finish);
}

/**
 * Speaks a language that the visitor has chosen, and remembers it.
 * @param {string} wanted
 */
export function choose(wanted) {
  speak(wanted);
  try {
    localStorage.setItem(CHOSEN, wanted);
  } catch {
    // Storage is forbidden: then the choice lives as long as the page.
  }
}

/**
 * @param {any} target
 * @param {any} source
 * @param {(words: string) => string} [finish]
 */
function fill(target, source, finish = (words) => words) {
  for (const [key, value] of Object.entries(source)) {
    if (typeof value === "string") target[key] = finish(value);
    else if (typeof value === "function") target[key] = (/** @type {unknown[]} */ ...facts) => finish(value(...facts));
    else fill((target[key] ??= Array.isArray(value) ? [] : {}), value, finish);
  }
}

/** @returns {string | null} */
function remembered() {
  try {
    return localStorage.getItem(CHOSEN);
  } catch {
    return null;
  }
}

const isSpoken = (/** @type {string | null} */ wanted) => wanted !== null && Object.hasOwn(LANGUAGES, wanted);

const asked = new URLSearchParams(location.search).get("lang");
if (asked !== null && isSpoken(asked)) choose(asked);
else speak([remembered(), ...navigator.languages.map((tag) => tag.split("-")[0])].find(isSpoken) ?? "en");
