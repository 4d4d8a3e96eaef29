// @ts-check
/** A labelled field with its hint and the place for its error. */
import { h, icon } from "../dom.js";

/**
 * @param {string} name
 * @param {{ label: string, hint?: string }} words
 * @param {import("../dom.js").Attributes} attributes
 */
export function field(name, words, attributes) {
  return h("div", { class: "field" },
    h("label", { for: name }, words.label),
    h("input", {
      type: "text", id: name, name, "data-field": name, "aria-describedby": words.hint ? `${name}-hint ${name}-error` : `${name}-error`, oninput: unmark, ...attributes,
    }),
    words.hint && h("p", { class: "hint", id: `${name}-hint` }, words.hint),
    h("p", { class: "field-error", id: `${name}-error`, "data-field-error": name }));
}

/**
 * Removes a field's error as soon as the visitor corrects it.
 * @param {Event & { currentTarget: HTMLInputElement }} event
 */
function unmark({ currentTarget: control }) {
  control.setAttribute("aria-invalid", "false");
  document.getElementById(`${control.name}-error`)?.replaceChildren();
}

/**
 * Shows a field's error, and focuses the field.
 * @param {HTMLFormElement} form
 * @param {Record<string, string>} errors by the field's name; empty: nothing is wrong
 */
export function mark(form, errors) {
  const controls = [...form.querySelectorAll(/** @type {"input"} */ ("[data-field]"))];
  for (const control of controls) {
    const error = errors[control.name] ?? "";
    control.setAttribute("aria-invalid", String(!!error));
    document.getElementById(`${control.name}-error`)?.replaceChildren(...(error ? [icon("alert"), error] : []));
  }
  controls.find((control) => errors[control.name])?.focus();
}
