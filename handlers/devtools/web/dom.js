// @ts-check
/** Creates elements. Text is always inserted as text, never as markup. */

/**
 * @typedef {Node | string | number | false | null | undefined} Child
 * @typedef {Record<string, string | number | boolean | undefined | ((event: any) => void)>} Attributes
 */

/**
 * An element: `h("button", { class: "quiet", onclick }, "Copy")`.
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
  for (const child of children.flat()) {
    if (child !== false && child !== null && child !== undefined) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * A button. Its key lets the focus return to it after its surroundings are rendered again.
 * @param {string} key
 * @param {Attributes & { onclick: (event: any) => void }} attributes
 * @param {...(Child | Child[])} children
 */
export const button = (key, attributes, ...children) =>
  h("button", { type: "button", "data-key": key, ...attributes }, ...children);

/**
 * A heading with its controls.
 * @param {Child} words
 * @param {...Child} controls
 */
export const heading = (words, ...controls) => h("div", { class: "heading" }, h("h3", {}, words), ...controls);
