// @ts-check
/**
 * What a visitor sees before starting a new registration: the way to buy as a member, if they are logged in, and a notice
 * or a question while this browser has one in progress.
 */
import { ask, h, icon } from "../dom.js";
import { findInProgress } from "../journey.js";
import { isPaying, linkTo } from "../route.js";
import { get } from "../store.js";
import { text } from "../text.js";

export function resume() {
  const { inProgress, place } = get();
  return [asMember(), ...inProgress.filter(({ id }) => id !== place.registration).map((registration) =>
    h("section", { class: "resume", "data-resume": registration.id },
      icon("clock"),
      h("p", {}, isDeclined(registration) ? text.resume.declined : isPaying(registration) ? text.resume.paying : text.resume.open),
      h("a", { class: "button", href: linkTo({ registration: registration.id }) }, isPaying(registration) && !isDeclined(registration) ? text.resume.check : text.resume.go)))];
}

/** For visitors logged in to this club: the link to their own price list, from which they buy without typing details. */
function asMember() {
  const { place: { club, offer, startDate, debitDay } } = get();
  return isKnownHere() && h("section", { class: "resume is-good", "data-as-member": true },
    icon("tick"), h("p", {}, text.me.known),
    h("a", { class: "button", href: linkTo({ me: true, club, offer, startDate, debitDay }) }, text.me.asMember));
}

/** Whether the page is for any visitor, and this one is logged in to the club as its member. */
export function isKnownHere() {
  const { identity, place: { club, me, registration } } = get();
  return !!club && !me && !registration && identity?.club === club;
}

/** @param {import("../contract").Registration} registration */
const isDeclined = ({ payment }) => payment?.state === "declined";

/** The registration with a payment in progress, after the visitor chose to start another one: they are asked once. */
let agreed = "";

/** @type {Promise<boolean> | undefined} */
let asking;

/** Whether to start a new registration: while a payment of this browser is in progress, the visitor decides. */
export const mayStart = () => (asking ??= decide().finally(() => (asking = undefined)));

/** @returns {Promise<boolean>} */
async function decide() {
  await findInProgress(); // what the page knows may be old, or not read yet
  const paying = get().inProgress.find(isPaying);
  if (!paying || paying.id === agreed) return true;
  return new Promise((resolve) => {
    const dialog = ask(text.resume.ask,
      h("p", { class: "dialog-about" }, text.resume.why),
      h("form", { method: "dialog", class: "dialog-actions", onsubmit: () => (agreed = paying.id) },
        h("button", { class: "button-quiet", "data-confirm": true }, text.resume.another),
        h("a", { class: "button", href: linkTo({ registration: paying.id }), autofocus: true, "data-check-first": true, onclick: () => dialog.close() }, text.resume.check)));
    dialog.addEventListener("close", () => resolve(paying.id === agreed)); // only then can the next step get the focus
  });
}
