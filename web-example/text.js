// @ts-check
/**
 * The texts in the visitor's language. A second language is a file: copy text.en.js, translate it, name it here.
 */
import english from "./text.en.js";

/** @type {Record<string, () => Promise<{ default: typeof english }>>} */
const OTHERS = {
  // fr: () => import("./text.fr.js"),
};

const wanted = navigator.languages.map((tag) => tag.split("-")[0]).find((tag) => tag === "en" || tag in OTHERS);

/** The language of the texts, for `<html lang>`. */
export const language = wanted ?? "en";

/** The catalogue. */
export const text = language in OTHERS ? (await OTHERS[language]()).default : english;
