// @ts-check
/** The link to the club's login. If none is configured, its tokens can be entered by hand. */
import { h, icon, working } from "../dom.js";
import { loginAddress } from "../identity.js";
import { addressOf } from "../route.js";
import { inspector, isLocal } from "../simulator.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { field, mark } from "./field.js";

/**
 * @param {import("../identity.js").Wanted} wanted
 * @param {(token: string) => unknown} take what is entered by hand
 * @param {{ label: string, hint?: string, continue: string, doing: string }} words
 */
export function login(wanted, take, words) {
  const address = loginAddress(wanted, addressOf(get().place));
  const form = byHand(wanted, take, words);
  if (!address) return form;
  return h("div", { class: "login" },
    h("a", { class: "button button-wide", id: "login", href: address, "data-login": wanted }, icon("lock"), text.login.go),
    isLocal() && h("details", { class: "later" }, h("summary", {}, text.login.byHand), form));
}

/**
 * @param {import("../identity.js").Wanted} name
 * @param {(token: string) => unknown} take
 * @param {{ label: string, hint?: string, continue: string, doing: string }} words
 */
function byHand(name, take, words) {
  return h("form", { class: "person", novalidate: true, "data-form": name === "accessToken" ? "prospect" : "login", onsubmit: submit },
    field(name, words, { autocomplete: "off", spellcheck: "false", required: true, maxlength: 8192, class: "account-number" }),
    isLocal() && h("p", { class: "notice" }, icon("info"), h("span", {}, `${text.login.mock} `,
      h("a", { href: inspector("personas"), target: "_blank", rel: "noopener" }, text.prospect.personas))),
    h("div", { class: "actions" },
      h("button", { class: "button button-wide", id: "bring", "data-continue": true }, working(words.continue, words.doing))));

  /** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
  function submit(event) {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get(name) ?? "").trim();
    mark(event.currentTarget, token ? {} : { [name]: text.login.empty });
    if (token) take(token);
  }
}
