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
      type: "text", id: name, name, "data-field": name, "aria-describedby": words.hint ? `${name}-hint ${name}-error` : `${name}-error`, ...attributes,
    }),
    words.hint && h("p", { class: "hint", id: `${name}-hint` }, words.hint),
    h("p", { class: "field-error", id: `${name}-error`, "data-field-error": name }));
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
