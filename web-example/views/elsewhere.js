// @ts-check
/** Continues the registration on another device, by a single-use link to copy. */
import { ask, button, h } from "../dom.js";
import { moment } from "../format.js";
import { makeLink, signOff } from "../journey.js";
import { get, set } from "../store.js";
import { text } from "../text.js";

/**
 * The link can be opened for longer than the cart can be paid, but then shows a closed sign-up. The page therefore says how
 * long it is useful.
 * @param {import("../contract").Registration} registration
 */
export function elsewhere({ id, expiresAt }) {
  const { link } = get();
  if (!link || link.registration !== id) {
    return button({ class: "link", "data-elsewhere": true, onclick: make }, text.elsewhere.open);
  }
  return h("section", { class: "elsewhere", "data-elsewhere": "made" },
    h("label", { for: "resume-link" }, text.elsewhere.label),
    h("input", { id: "resume-link", readonly: true, value: link.url, "data-resume-link": true, onfocus: select }),
    button({ class: "button button-quiet", "data-copy": link.copied ?? "", onclick: copy }, link.copied === "done" ? text.elsewhere.copied : text.elsewhere.copy),
    h("p", { class: "fine" }, text.elsewhere.lead(moment(Date.parse(link.expiresAt) < Date.parse(expiresAt) ? link.expiresAt : expiresAt))));
}

/** Ends the session, for shared computers. This asks first, because only a link from another device leads back. */
export const leaveHere = () => button({ class: "link", "data-sign-off": true, onclick: askLeave }, text.elsewhere.leave);

function askLeave() {
  const dialog = ask(text.elsewhere.leaveAsk,
    h("p", { class: "dialog-about" }, text.elsewhere.leaveWhy),
    h("form", { method: "dialog", class: "dialog-actions", onsubmit: () => signOff() },
      button({ class: "button-quiet", autofocus: true, onclick: () => dialog.close() }, text.elsewhere.stay),
      h("button", { class: "button", "data-confirm": true }, text.elsewhere.leave)));
}

/** Creates the link and selects it. */
async function make() {
  await makeLink();
  document.getElementById("resume-link")?.focus();
}

/** @param {FocusEvent} event */
const select = (event) => /** @type {HTMLInputElement} */ (event.currentTarget).select();

/** Copies the link, or selects it for the visitor to copy if the browser forbids it. */
async function copy() {
  const { link } = get();
  if (!link) return;
  const copied = await navigator.clipboard.writeText(link.url).then(() => true, () => false);
  set({ link: { ...link, copied: copied ? "done" : "by-hand" } });
  if (!copied) document.getElementById("resume-link")?.focus();
}
