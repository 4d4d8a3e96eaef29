// @ts-check
/** A labelled field with its hint and the place for its error. */
import { h, icon } from "../dom.js";

/**
 * @typedef {{ label: string, hint?: string }} Words
 * @typedef {import("../dom.js").Attributes} Attributes
 */

/**
 * @param {string} name
 * @param {Words} words
 * @param {Attributes} attributes
 */
export const field = (name, words, attributes) =>
  labelled(name, words, (common) => h("input", { type: "text", ...common, oninput: unmark, ...attributes }));

/**
 * @param {string} name
 * @param {Words} words
 * @param {(common: Attributes) => HTMLElement} control makes it, with the attributes that every field has
 */
export function labelled(name, { label, hint }, control) {
  return h("div", { class: "field" },
    h("label", { for: name }, label),
    control({ id: name, name, "data-field": name, "aria-describedby": hint ? `${name}-hint ${name}-error` : `${name}-error` }),
    hint && h("p", { class: "hint", id: `${name}-hint` }, hint),
    h("p", { class: "field-error", id: `${name}-error`, "data-field-error": name }));
}

/**
 * Removes a field's error as soon as the visitor corrects it.
 * @param {Event & { currentTarget: HTMLInputElement }} event
 */
const unmark = ({ currentTarget: control }) => markOne(control, "");

/**
 * Shows a field's error.
 * @param {HTMLInputElement} control
 * @param {string} error empty when it is right
 */
export function markOne(control, error) {
  control.setAttribute("aria-invalid", String(!!error));
  errorOf(control)?.replaceChildren(...(error ? [icon("alert"), error] : []));
}

/** @param {HTMLElement} control */
export const errorOf = (control) => control.closest(".field")?.querySelector(".field-error");

/**
 * Shows the errors of a form, and focuses the first field with one.
 * @param {HTMLFormElement} form
 * @param {Record<string, string>} errors by the field's name; empty: nothing is wrong
 */
export function mark(form, errors) {
  const controls = [...form.querySelectorAll(/** @type {"input"} */ ("[data-field]"))];
  for (const control of controls) markOne(control, errors[control.name] ?? "");
  controls.find((control) => errors[control.name])?.focus();
}
