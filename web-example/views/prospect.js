// @ts-check
/** Bring in the account that another club of the chain has already. */
import { h, heading, icon } from "../dom.js";
import { bringAccount } from "../journey.js";
import { get } from "../store.js";
import { text } from "../text.js";
import { field, mark } from "./field.js";
import { backToCart } from "./mandate.js";
import { isLocal } from "./signature.js";

/** @param {import("../store.js").State} state */
export const reads = ({ registration }) => [registration?.id];

export function show() {
  const { registration } = get();
  if (!registration) return null;
  return h("div", {},
    h("div", { class: "step-head" }, backToCart(registration), heading(text.prospect.heading), h("p", { class: "lead" }, text.prospect.lead)),
    h("form", { class: "person", novalidate: true, "data-form": "prospect", onsubmit: submit },
      field("accessToken", text.prospect, { autocomplete: "off", spellcheck: "false", required: true, maxlength: 8192, class: "account-number" }),
      isLocal() && h("p", { class: "notice" }, icon("info"), h("span", {}, `${text.prospect.mock} `,
        h("a", { href: "/sim/demo/_control/personas", target: "_blank", rel: "noopener" }, text.prospect.personas))),
      h("div", { class: "actions" },
        h("button", { class: "button button-wide", id: "bring", "data-continue": true },
          h("span", { class: "when-idle" }, text.prospect.continue), h("span", { class: "when-busy" }, text.prospect.doing)))));
}

/** @param {SubmitEvent & { currentTarget: HTMLFormElement }} event */
async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const accessToken = String(new FormData(form).get("accessToken") ?? "").trim();
  mark(form, accessToken ? {} : { accessToken: text.prospect.error });
  if (!accessToken) return;
  const problem = await bringAccount(accessToken);
  if (problem?.code === "access_token_refused" && form.isConnected) mark(form, { accessToken: text.problems.access_token_refused });
}
