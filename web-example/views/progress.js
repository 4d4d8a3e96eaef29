// @ts-check
/** The progress bar. Earlier steps are links if the visitor can go back to them. */
import { h, icon } from "../dom.js";
import { can, linkTo, signsNext } from "../route.js";
import { findOffer } from "../terms.js";
import { text } from "../text.js";

const ALL = /** @type {const} */ (["club", "offer", "person", "mandate", "cart", "payment"]);

/**
 * The steps in the progress bar. The direct debit is one of them only if the cart needs it.
 * @param {import("../store.js").State} state
 */
function stepsOf({ place, registration, catalogue }) {
  const debited = registration ? registration.mandate || can(registration, "mandate") : findOffer(catalogue, place.offer)?.offer.needs.includes("mandate");
  return debited ? ALL : ALL.filter((step) => step !== "mandate");
}

/**
 * @param {import("../route.js").Step} step
 * @param {import("../store.js").State} state
 */
export function progress(step, state) {
  const finished = state.registration?.step === "done";
  const steps = stepsOf(state);
  const signs = (step === "cart" || step === "prospect") && state.registration && signsNext(state.registration);
  const isGone = step === "person" && !state.place.registration && state.catalogue?.complete && !findOffer(state.catalogue, state.place.offer);
  const counted = isGone ? "offer" : signs ? "mandate" : step === "prospect" ? "cart" : step;
  const at = finished ? steps.length : steps.findIndex((one) => one === counted);
  if (at < 0) return h("div");
  const nav = h("div", { class: "progress-content" });
  const isCounted = state.registration || findOffer(state.catalogue, state.place.offer); // else the offer may add the direct debit
  const position = finished ? "" : `${text.progress.position(at + 1, isCounted ? steps.length : undefined)} · ${nameOf(steps[at], state)}`;
  nav.append(h("p", { class: "progress-position", "aria-hidden": true }, position));
  nav.append(h("ol", {}, steps.map((one, index) => entry(one, index, at, state))));
  return nav;
}

/**
 * @param {typeof ALL[number]} step
 * @param {number} index
 * @param {number} at
 * @param {import("../store.js").State} state
 */
function entry(step, index, at, state) {
  const isDone = index < at;
  const link = isDone && linkBack(step, state);
  const name = [nameOf(step, state), isDone && h("span", { class: "sr-only" }, ` (${text.progress.finished})`)];
  return h("li", { class: isDone ? "is-done" : index === at ? "is-now" : "", "aria-current": index === at && "step" },
    h("span", { class: "progress-mark" }, isDone && icon("tick")),
    link ? h("a", { href: link }, ...name) : h("span", {}, ...name));
}

/**
 * A step's name. The last one is a confirmation if nothing is paid today.
 * @param {typeof ALL[number]} step
 * @param {import("../store.js").State} state
 */
function nameOf(step, { place, registration, catalogue }) {
  const due = registration ? registration.cart.items.length && registration.cart.dueNow : findOffer(catalogue, place.offer)?.offer.dueToday.price;
  return step === "payment" && due && !due.amount ? text.progress.confirmation : text.progress[step];
}

/**
 * @param {typeof ALL[number]} step
 * @param {import("../store.js").State} state
 */
function linkBack(step, { place, registration }) {
  if (!place.registration) return step === "club" ? linkTo({}) : step === "offer" && linkTo({ club: place.club });
  if (step === "person" && can(registration, "person")) return linkTo({ registration: place.registration, step: "person" });
  if (step === "offer" && can(registration, "add_item")) return linkTo({ registration: place.registration, step: "offer" });
  return false;
}
