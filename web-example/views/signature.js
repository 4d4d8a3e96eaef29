// @ts-check
/** Signs with the SMS code: enter it, request a new one, or use another account. */
import { button, h, heading, icon, working } from "../dom.js";
import { cancelSignature, refresh, resend, sign } from "../journey.js";
import { can, isKnown, linkTo } from "../route.js";
import { inspector, isLocal } from "../simulator.js";
import { get, set } from "../store.js";
import { text } from "../text.js";
import { backToCart } from "./back.js";
import { changes } from "./changes.js";
import { field, mark } from "./field.js";
import { accepting } from "./legal.js";
import { said } from "./message.js";

/**
 * @typedef {import("../contract").Registration} Registration
 * @typedef {import("../contract").Mandate} Mandate
 */

const WORDS = text.mandate.code;

/** The pause before asking again whether a new code can be sent. */
const ASK_AGAIN = 3_000;

/**
 * @param {Registration} registration
 * @param {Mandate} mandate
 */
export function signature(registration, mandate) {
  const states = /** @type {Record<string, { heading: string, lead: string | false }>} */ (WORDS.states);
  const isUnreachable = mandate.state === "no_code" && get().problem?.code === "mobile_unreachable";
  const words = isUnreachable ? WORDS.unreachable : states[mandate.state] ?? { heading: WORDS.heading, lead: mandate.state === "awaiting_code" && WORDS.lead(mandate.iban, registration.contact?.mobileEnding ?? "") };
  return h("div", { class: "signature", "data-signature": mandate.state },
    h("div", { class: "step-head" }, backToCart(registration), heading(words.heading), words.lead && h("p", { class: "lead" }, words.lead)),
    !(words.lead && isKnown(registration)) && said(registration),
    changes(registration.cart),
    mandate.state === "no_code" && correction(registration, isUnreachable),
    can(registration, "sign") && [byGuardian(registration), authorisation(mandate), accepting("sign", registration)],
    can(registration, "sign") && codeForm(mandate, sign),
    h("div", { class: "signature-others" },
      resendButton(mandate, { ready: can(registration, "resend"), resend, again: () => refresh(registration.id) }),
      mandate.state !== "no_code" && correction(registration, false),
      can(registration, "cancel_signature") && button({ class: "link", "data-cancel": true, onclick: cancelSignature }, WORDS.cancel)),
    can(registration, "sign") && outbox());
}

/**
 * The text that the code signs, in full: who may debit the account, and the right to a refund.
 * @param {Mandate} mandate
 */
const authorisation = ({ text: words, reference }) =>
  h("section", { class: "panel authorisation", "aria-labelledby": "authorisation", "data-consent-to-debit": true },
    h("h2", { id: "authorisation" }, WORDS.authorisation),
    words.split("\n\n").map((part) => h("p", {}, part)),
    h("p", { class: "fine", "data-mandate-reference": reference ?? "" }, reference ? WORDS.reference(reference) : WORDS.referenceLater));

/**
 * Says whose account and whose phone it is, and what the code does not prove, if a guardian concludes the contract.
 * @param {Registration} registration
 */
export const byGuardian = ({ guardian }) =>
  guardian && h("p", { class: "notice", "data-by-guardian": true }, icon("info"), text.mandate.guardian(`${guardian.givenName} ${guardian.familyName}`));

/**
 * The link to correct the mobile number, or the guardian of a contact whom the club knows: a button if no code can be sent to it.
 * @param {Registration} registration
 * @param {boolean} isUnreachable
 */
export function correction(registration, isUnreachable) {
  const { id, guardian } = registration;
  const isKnown = !can(registration, "person");
  if (isKnown && !(guardian && can(registration, "guardian"))) return false;
  const place = isKnown ? { registration: id, step: "guardian" } : { registration: id, step: "person", field: guardian ? "guardianPhone" : "mobile" };
  return h("a", { class: isUnreachable ? "button button-wide" : "link", href: linkTo(place), "data-correct": true }, isKnown ? text.guardian.correct : WORDS.correct);
}

/** Tells developers where to find the code. */
export const outbox = () =>
  isLocal() && h("p", { class: "notice" }, icon("info"), h("span", {}, `${WORDS.mock} `,
    h("a", { href: inspector("sms-outbox"), target: "_blank", rel: "noopener" }, WORDS.outbox)));

/**
 * @param {{ attemptsLeft?: number }} signature
 * @param {(code: string) => Promise<import("../api.js").Problem | undefined>} take
 * @param {string} [label] what entering the code does
 */
export const codeForm = ({ attemptsLeft = 0 }, take, label = WORDS.sign) =>
  h("form", { class: "code-form", novalidate: true, "data-form": "signature", onsubmit: (/** @type {any} */ event) => submit(event, take) },
    field("code", { label: WORDS.label }, { class: "code", inputmode: "numeric", enterkeyhint: "done", autocomplete: "one-time-code", maxlength: 12, required: true }),
    h("p", { class: "hint attempts", "data-attempts": attemptsLeft, role: "status" }, WORDS.left(attemptsLeft)),
    h("button", { class: "button button-wide", id: "sign", "data-continue": true }, working(label, WORDS.signing)));

/**
 * @param {SubmitEvent & { currentTarget: HTMLFormElement }} event
 * @param {(code: string) => Promise<import("../api.js").Problem | undefined>} take
 */
async function submit(event, take) {
  event.preventDefault();
  const form = event.currentTarget;
  const code = String(new FormData(form).get("code") ?? "").replace(/[\s-]/g, "");
  const wrong = !/^[0-9]{4,12}$/.test(code);
  mark(form, wrong ? { code: WORDS.error } : {});
  if (wrong) return;
  const problem = await take(code);
  if (problem?.code === "code_wrong") set({ problem: undefined }); // the field shows it
  const again = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-form="signature"]'));
  if (!again && problem?.code === "code_blocked") set({ problem: undefined }); // the heading says it
  if (!again) return;
  if (problem?.code === "code_wrong") mark(again, { code: text.problems.code_wrong });
  /** @type {HTMLInputElement} */ (again.elements.namedItem("code")).select(); // the next one takes its place
}

/**
 * When a new code can be sent, by this page's clock: what a response says is counted from when it was first shown.
 * @type {WeakMap<{ resendIn?: number }, number>}
 */
const times = new WeakMap();

/**
 * The button for a new code, with the time until it is enabled.
 * @param {{ resendIn?: number }} signature
 * @param {object} code
 * @param {boolean} [code.ready] whether the gateway says that it works now; left out where nothing but the time says it
 * @param {() => unknown} code.resend
 * @param {() => unknown} [code.again] asks the gateway again
 */
export function resendButton(signature, { ready, resend, again }) {
  const at = times.get(signature) ?? Date.now() + 1_000 * (signature.resendIn ?? 0);
  times.set(signature, at);
  ready ??= Date.now() >= at;
  const element = button({
    class: "button button-quiet resend", id: "resend", "data-resend": ready ? "now" : "later", "aria-disabled": String(!ready),
    onclick: () => element.getAttribute("aria-disabled") !== "true" && resend(),
  });
  tick();
  return element;

  function tick() {
    const seconds = ready ? 0 : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
    element.textContent = seconds ? WORDS.resendIn(seconds) : WORDS.resend;
    if (ready) return;
    setTimeout(() => {
      if (!element.isConnected) return;
      if (!seconds && !again) return element.replaceWith(resendButton(signature, { ready: true, resend }));
      if (!seconds) again?.();
      tick();
    }, seconds ? 1_000 : ASK_AGAIN);
  }
}
