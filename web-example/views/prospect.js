// @ts-check
/**
 * Uses an account that the visitor already has at another club of the chain: log in there, come back, and confirm, so
 * that a link alone cannot bring an account into a registration.
 */
import { button, h, heading, icon, working } from "../dom.js";
import { canLogIn } from "../identity.js";
import { bringAccount } from "../journey.js";
import { can, linkTo } from "../route.js";
import { get, set } from "../store.js";
import { text } from "../text.js";
import { backToCart } from "./back.js";
import { mark } from "./field.js";
import { login } from "./login.js";

/** @param {import("../contract").Registration} registration */
export const prospectLink = (registration) =>
  can(registration, "prospect") && canLogIn() && h("a", { href: linkTo({ registration: registration.id, step: "prospect" }), "data-prospect": true }, text.prospect.open);

/** @param {import("../store.js").State} state */
export const reads = ({ registration, accessToken }) => [registration?.id, accessToken];

export function show() {
  const { registration, accessToken } = get();
  if (!registration) return null;
  return h("div", {},
    h("div", { class: "step-head" }, backToCart(registration), heading(text.prospect.heading), h("p", { class: "lead" }, text.prospect.lead)),
    accessToken ? loggedIn(accessToken) : login("accessToken", enter, text.prospect));
}

/** @param {string} accessToken */
const loggedIn = (accessToken) =>
  h("div", { class: "login", "data-logged-in": true },
    h("p", { class: "notice is-good" }, icon("tick"), text.login.account),
    button({ class: "button button-wide", id: "bring", "data-bring": true, onclick: () => bringAccount(accessToken) },
      working(text.prospect.continue, text.prospect.doing)),
    button({ class: "link", "data-other": true, onclick: () => set({ accessToken: undefined }) }, text.login.other));

/** @param {string} accessToken as it was entered by hand */
async function enter(accessToken) {
  const problem = await bringAccount(accessToken);
  if (problem?.code !== "access_token_refused") return;
  set({ problem: undefined }); // the field shows it
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-form='prospect']"));
  if (form) mark(form, { accessToken: text.problems.access_token_refused });
}
