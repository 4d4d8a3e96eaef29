// @ts-check
/** Moves the member to another club of the chain, with an SMS code. The account stays the same. */
import { button, h, heading, icon, working } from "../dom.js";
import { chooseAgain, confirmMove, moveTo } from "../member.js";
import { clubName, get, set } from "../store.js";
import { text } from "../text.js";
import { backToMe } from "./back.js";
import { contact } from "./contact.js";
import { codeForm, outbox, resendButton } from "./signature.js";

const WORDS = text.transfer;

/** The status of contacts that only the staff can move, with all that they have bought. */
const MEMBER = "customer";

/** @param {import("../store.js").State} state */
export const reads = ({ transfer, me, clubs, details, target, isStuck }) => [transfer, me, clubs, details, target, isStuck];

export function show() {
  const { transfer, me, clubs, isStuck } = get();
  if (!me || !clubs) return h("div", { class: "member" }, head(WORDS.heading, WORDS.lead), !isStuck && h("i", { class: "bone bone-box", "aria-hidden": true }));
  if (transfer && transfer.state !== "cancelled") return signature(transfer);
  if (me.status === MEMBER) return h("div", { class: "member" }, head(WORDS.heading), atClub(), contact(me.clubId));
  return h("div", { class: "member" }, head(WORDS.heading, WORDS.lead), choice(clubs, me.clubId));
}

/**
 * @param {string} title
 * @param {string} [lead]
 */
const head = (title, lead) => h("div", { class: "step-head" }, backToMe(), heading(title), lead && h("p", { class: "lead" }, lead));

const atClub = () => h("p", { class: "notice", "data-at-club": true }, icon("info"), WORDS.member);

/**
 * The clubs to which the member can move: those of the same group.
 * @param {import("../contract").Club[]} clubs
 * @param {string} own
 */
function targets(clubs, own) {
  const roof = clubs.find(({ id }) => id === own)?.path[0];
  return clubs.filter(({ id, path }) => id !== own && path[0] === roof);
}

/**
 * @param {import("../contract").Club[]} clubs
 * @param {string} own
 */
function choice(clubs, own) {
  const { target } = get();
  const isMissing = target === "";
  return h("form", { class: "person", novalidate: true, "data-form": "transfer", onsubmit: submit },
    h("fieldset", { class: "group", role: "radiogroup", "aria-required": "true", "aria-invalid": String(isMissing), "aria-describedby": "club-error" },
      h("legend", {}, WORDS.list),
      h("p", { class: "field-error", id: "club-error", "data-field-error": "club" }, isMissing && [icon("alert"), WORDS.missing]),
      h("div", { class: "choices" }, targets(clubs, own).map(({ id, name, path }) =>
        h("label", { class: "choice" },
          h("input", { type: "radio", name: "club", value: id, id: `to-${id}`, checked: id === target, "data-to": id, onchange: () => set({ target: id }) }),
          h("span", {}, h("strong", {}, name), h("small", {}, path.join(" · "))))))),
    h("div", { class: "actions" },
      h("button", { class: "button button-wide", id: "move", "data-continue": true }, working(WORDS.send, text.mandate.sending))));
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const { target } = get();
  if (target) return void moveTo(target);
  set({ target: "" });
  /** @type {HTMLElement | null} */ (document.querySelector("[data-to]"))?.focus();
}

/** @param {import("../contract").Transfer} transfer */
function signature(transfer) {
  const states = /** @type {Record<string, { heading: string, lead: string }>} */ (text.mandate.code.states);
  const takesCode = transfer.state === "awaiting_code" || transfer.state === "unconfirmed";
  const usual = takesCode ? { heading: text.mandate.code.heading, lead: WORDS.codeLead(clubName(transfer.clubId)) } : { heading: WORDS.heading, lead: transfer.message?.text };
  const words = states[transfer.state] ?? usual;
  return h("div", { class: "member signature", "data-transfer": transfer.state },
    head(words.heading, words.lead),
    takesCode && codeForm(transfer, confirmMove, WORDS.go),
    h("div", { class: "signature-others" },
      resendButton(transfer, { resend: () => moveTo(transfer.clubId) }),
      button({ class: "link", "data-cancel": true, onclick: chooseAgain }, WORDS.other)),
    outbox());
}
