// @ts-check
/** What the club changed in the cart, or that the cart could not be read again. */
import { h, icon } from "../dom.js";
import { money } from "../format.js";
import { text } from "../text.js";

/** @typedef {import("../contract").Cart} Cart */

/** @param {Cart} cart what was added is said at its line */
export function changes(cart) {
  const all = cart.changes.filter(({ kind }) => kind !== "added");
  return [
    cart.stale && h("p", { class: "notice", "data-stale": true }, icon("info"), text.cart.stale),
    all.length > 0 && h("section", { class: "notice notice-block", "data-changes": true },
      icon("info"),
      h("div", {}, h("h2", {}, text.cart.changesHeading), all.map((change) => h("p", { "data-change": change.kind }, changed(change))))),
  ];
}

/** @param {Cart["changes"][number]} change */
function changed({ kind, name, price, was }) {
  if (kind === "removed") return text.changes.removed(name, money(price));
  return kind === "price" && was ? text.cart.repriced(name, money(was), money(price)) : `${name}, ${money(price)}`;
}
