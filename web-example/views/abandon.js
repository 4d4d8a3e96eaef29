// @ts-check
/** Ways to give up: the registration after a question, its payment without one. */
import { ask, button, h } from "../dom.js";
import { abandon, stepBack } from "../journey.js";
import { can } from "../route.js";
import { text } from "../text.js";

function askAbandon() {
  const dialog = ask(text.abandon.ask,
    h("p", { class: "dialog-about" }, text.abandon.why),
    h("form", { method: "dialog", class: "dialog-actions", onsubmit: () => abandon() },
      button({ class: "button-quiet", autofocus: true, onclick: () => dialog.close() }, text.abandon.no),
      h("button", { class: "button button-danger", "data-confirm": true }, text.abandon.yes)));
}

/** The link that asks whether to give up the registration. */
export const abandonButton = () => button({ class: "link", "data-abandon": true, onclick: askAbandon }, text.abandon.open);

/**
 * What the visitor can do instead of paying now.
 * @param {import("../contract").Registration} registration
 */
export const waysOut = (registration) => [
  can(registration, "cancel_payment") && button({ class: "link", "data-step-back": true, onclick: stepBack }, text.payment.back),
  can(registration, "abandon") && abandonButton(),
];
