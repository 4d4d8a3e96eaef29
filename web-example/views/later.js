// @ts-check
/** The offer to pay at the club instead, until a day that the visitor chooses. */
import { h, icon } from "../dom.js";
import { inDays, today } from "../format.js";
import { payLater } from "../journey.js";
import { text } from "../text.js";
import { field } from "./field.js";

/** What clubs usually grant, in days. */
const USUAL = 14;

/** @param {string} latest the last day that the gateway accepts */
export const laterForm = (latest) =>
  h("details", { class: "later", "data-later": true },
    h("summary", {}, text.cart.later.summary, icon("down")),
    h("form", { "data-form": "later", onsubmit: submit },
      h("p", { class: "fine" }, text.cart.later.lead),
      field("dueDate", { label: text.cart.later.dueDate }, { type: "date", required: true, min: today(), max: latest, value: inDays(USUAL) < latest ? inDays(USUAL) : latest }),
      h("button", { class: "button button-quiet button-wide", "data-pay-later": true }, icon("calendar"), text.cart.later.go)));

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  payLater(String(new FormData(form).get("dueDate")));
}
