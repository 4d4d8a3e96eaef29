// @ts-check
/** What the club may send, by channel. Each consent can be given and withdrawn, and each change has its own result. */
import { h, heading, icon, working } from "../dom.js";
import { moment } from "../format.js";
import { requestConsent, saveConsents } from "../member.js";
import { get } from "../store.js";
import { text, textFor } from "../text.js";
import { backToMe } from "./back.js";

/**
 * @typedef {import("../contract").Consent} Consent
 * @typedef {import("../contract").ConsentReceipt} Receipt
 */

/** @param {import("../store.js").State} state */
export const reads = ({ consents, consentRequests, consentResults, isStuck }) => [consents, consentRequests, consentResults, isStuck];

export function show() {
  const { consents, isStuck } = get();
  return h("div", { class: "member" },
    h("div", { class: "step-head" }, backToMe(), heading(text.consents.heading), h("p", { class: "lead" }, text.consents.lead)),
    consents ? form(consents.items) : !isStuck && h("i", { class: "bone bone-box", "aria-hidden": true }),
    consents && receipts(consents.receipts));
}

/** The consents that a new member may give, all unticked; nothing until they have been read. */
export function offered() {
  const choices = get().consents?.items.filter(({ locked }) => !locked);
  return choices?.length
    ? h("section", { class: "keep-in-touch", "data-consents-offer": true, "aria-labelledby": "in-touch" },
        h("h2", { id: "in-touch" }, text.consents.offer), h("p", { class: "fine" }, text.consents.newcomer), form(choices))
    : null;
}

/** @param {Consent[]} all */
function form(all) {
  const asked = Object.keys(get().consentRequests).length;
  return h("form", { class: "consents", "data-form": "consents", onsubmit: save },
    [...Map.groupBy(all, ({ type }) => type)].map(([type, items]) => group(type, items)),
    verdict(),
    h("div", { class: "actions" },
      h("button", { class: "button button-wide", id: "save", "data-continue": true, "aria-disabled": String(!asked) },
        working(text.consents.save(asked), text.consents.saving)),
      h("p", { class: "fine" }, text.consents.kept)));
}

/** @param {SubmitEvent} event */
function save(event) {
  event.preventDefault();
  if (Object.keys(get().consentRequests).length) saveConsents();
}

/**
 * @param {string} type
 * @param {Consent[]} items
 */
function group(type, items) {
  const types = /** @type {Record<string, { name: string, about: string }>} */ (text.consents.types);
  return h("fieldset", { class: "panel consent", "data-consents": type },
    h("legend", {}, types[type]?.name ?? type),
    types[type] && h("p", { class: "hint" }, types[type].about),
    h("div", { class: "consent-channels" }, items.map(choice)));
}

/** @param {Consent} consent */
function choice(consent) {
  const { id, channel, authorized, locked } = consent;
  const channels = /** @type {Record<string, string>} */ (text.consents.channels);
  const result = get().consentResults?.find((one) => one.id === id);
  const wanted = get().consentRequests[id] ?? authorized;
  const input = h("input", {
    type: "checkbox", id: `consent-${id}`, "data-consent": id, "data-channel": channel, "data-authorized": String(authorized), disabled: locked,
    "aria-describedby": `consent-${id}-answer`, onchange: () => requestConsent(consent, input.checked),
  });
  input.checked = wanted;
  return h("div", { class: "consent-choice" },
    h("label", { for: input.id }, input, h("span", {}, channels[channel] ?? channel)),
    h("p", { class: "fine", id: `consent-${id}-answer`, "data-answer": result?.code ?? "" }, word(consent, result?.code)));
}

/**
 * The note at a consent: the result of its change, or why it is locked.
 * @param {Consent} consent
 * @param {import("../contract").ConsentChange["code"]} [code]
 */
function word({ id, authorized, locked }, code) {
  if (locked) return text.consents.locked;
  if (code && code !== "locked") return textFor(text.consents.answers, code)?.(authorized) ?? "";
  return id in get().consentRequests ? text.consents.unsaved : "";
}

/** The results as a whole, for visitors who skip the details. */
function verdict() {
  const { consentResults: results } = get();
  if (!results) return null;
  const failed = results.filter(({ code }) => code === "failed" || code === "unknown").length;
  return h("p", { class: failed ? "problem" : "notice is-good", role: "status", "data-saved": results.length - failed, "data-failed": failed },
    icon(failed ? "alert" : "tick"), failed ? text.consents.partly(results.length - failed, failed) : text.consents.saved);
}

/** @param {Receipt[]} all */
const receipts = (all) =>
  all.length > 0 &&
  h("details", { class: "plan-all", "data-receipts": all.length },
    h("summary", {}, text.consents.receipts(all.length), icon("down")),
    h("ol", { class: "lines" }, all.map((receipt) =>
      h("li", { "data-receipt": receipt.id },
        h("div", {}, moment(receipt.at), h("small", {}, receipt.items.map(said).join(", ")))))));

/** @param {Receipt["items"][number]} item */
function said({ type, channel, authorized }) {
  const types = /** @type {Record<string, { name: string }>} */ (text.consents.types);
  const channels = /** @type {Record<string, string>} */ (text.consents.channels);
  return text.consents.said(types[type]?.name ?? type, channels[channel] ?? channel, authorized);
}
