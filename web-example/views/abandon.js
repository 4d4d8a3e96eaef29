// @ts-check
/** Asks before a registration is given up. */
import { ask, button, h } from "../dom.js";
import { abandon } from "../journey.js";
import { text } from "../text.js";

export function askAbandon() {
  const dialog = ask(text.abandon.ask,
    h("p", { class: "dialog-about" }, text.abandon.why),
    h("form", { method: "dialog", class: "dialog-actions", onsubmit: () => abandon() },
      button({ class: "button-quiet", autofocus: true, onclick: () => dialog.close() }, text.abandon.no),
      h("button", { class: "button button-danger", "data-confirm": true }, text.abandon.yes)));
}

/** What leads there. */
export const abandonButton = () => button({ class: "link", "data-abandon": true, onclick: askAbandon }, text.abandon.open);
