// @ts-check
/**
 * The texts in the visitor's language: the one in `?lang=`, else the one chosen here before, else the browser's first that
 * is available. To add a language, copy text.en.js, translate it, and name it in LANGUAGES. All languages come with the
 * page, so that changing the language needs no connection.
 */
import english from "./text.en.js";
import french, { typeset } from "./text.fr.js";

/**
 * The type of a catalogue with all texts of another one.
 * @template Part
 * @typedef {Part extends string ? string : Part extends (...facts: infer Facts) => string ? (...facts: Facts) => string : { [Key in keyof Part]: Texts<Part[Key]> }} Texts
 */

/**
 * @typedef {object} Language
 * @property {string} name in the language itself
 * @property {string} locale for amounts and dates, if the browser prefers no locale of the language
 * @property {Texts<typeof english>} texts
 * @property {(words: string) => string} [typeset] makes a text fit for print
 */

/** @type {Record<string, Language>} */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB", texts: english },
  fr: { name: "Français", locale: "fr-FR", texts: french, typeset },
};

/** Where this browser keeps the choice. */
const CHOSEN = "frontdesk.language";

/** The language of the texts, for `<html lang>`. */
export let language = "en";

/** The locale of amounts and dates: that language, with the rules of the visitor's own region. */
export let locale = "en-GB";

/** The catalogue. It stays the same object in every language, down to its leaves, so code can keep references to parts of it. */
export const text = /** @type {typeof english & { brand: string }} */ ({ brand: document.title });

/**
 * The text for a value of one of the contract's lists that can grow; undefined for one that this site does not know.
 * @template Words
 * @param {Record<string, Words>} texts
 * @param {string} value
 * @returns {Words | undefined}
 */
export const textFor = (texts, value) => (Object.hasOwn(texts, value) ? texts[value] : undefined);

/**
 * Switches the language. The caller must then show the page again.
 * @param {string} wanted one of LANGUAGES
 */
function speak(wanted) {
  language = wanted;
  const { texts, typeset: finish, ...chosen } = LANGUAGES[wanted];
  locale = navigator.languages.find((tag) => tag.startsWith(`${wanted}-`)) ?? chosen.locale;
  fill(text, english);
  fill(text, texts, finish);
}

/**
 * Switches to a language that the visitor has chosen, and remembers it.
 * @param {string} wanted
 */
export function choose(wanted) {
  speak(wanted);
  try {
    localStorage.setItem(CHOSEN, wanted);
  } catch {
    // Storage is forbidden, so the choice is lost with the page.
  }
}

/**
 * Keeps the groups of an account or phone number on one line.
 * @param {string} words
 */
const unbroken = (words) => words.replace(/(?<=[\d*]) (?=[\d*])/g, "\u00a0");

/**
 * @param {any} target
 * @param {any} source
 * @param {(words: string) => string} [finish]
 */
function fill(target, source, finish = (words) => words) {
  for (const [key, value] of Object.entries(source)) {
    if (typeof value === "string") target[key] = unbroken(finish(value));
    else if (typeof value === "function") target[key] = (/** @type {unknown[]} */ ...facts) => unbroken(finish(value(...facts)));
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
