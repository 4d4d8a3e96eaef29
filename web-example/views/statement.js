// @ts-check
/** Withdraw from a contract or cancel it: a form, what it says once more above the button that confirms it, the acknowledgement. */
import { button, h, heading, icon, working } from "../dom.js";
import { statementDraft } from "../draft.js";
import { date } from "../format.js";
import { loadDocuments, quietly } from "../journey.js";
import { linkTo } from "../route.js";
import { confirmStatement, correctStatement, KINDS, state } from "../statement.js";
import { clubName, get } from "../store.js";
import { language, text } from "../text.js";
import { field, labelled, mark, markOne } from "./field.js";
import { privacyNotice } from "./legal.js";
import { fieldOf, fieldText } from "./problem.js";

/** @typedef {import("../statement.js").Kind} Kind */

const WORDS = text.statements;

/** The links to both forms, for every page. */
export const statementLinks = () =>
  KINDS.map((kind) => h("a", { "data-statement-link": kind }, WORDS[kind].start));

/**
 * Has the links lead to the forms of the club that the page is about, if it is about one.
 * @param {import("../store.js").State} state
 */
export function pointLinks({ place, registration }) {
  for (const link of document.querySelectorAll(/** @type {"a"} */ ("[data-statement-link]"))) {
    link.href = linkTo({ statement: /** @type {Kind} */ (link.dataset.statementLink), club: place.club ?? registration?.clubId });
  }
}

/** @param {import("../store.js").State} state */
export const reads = ({ place, statement, identity, details, clubs, documents }) => [place.statement, statement, !!identity, statement && details, clubs, documents];

export function show() {
  const { place, statement } = get();
  const kind = place.statement ?? "withdrawal";
  if (statement?.kind !== kind) return form(kind);
  if (statement.received) return acknowledged(statement.received);
  return repeated(kind, statement.stated);
}

/** @param {Kind} kind */
function form(kind) {
  const { identity, place } = get();
  const draft = statementDraft.kept();
  /** @type {import("../contract").NewCancellation} */
  const entered = draft?.kind === kind ? draft.body : {};
  const filled = h("form", { class: "person", novalidate: true, "data-form": "statement", onsubmit: (/** @type {SubmitEvent} */ event) => submit(event, kind), oninput: () => keep() },
    identity && h("p", { class: "notice", "data-known": true }, icon("info"), WORDS.known),
    field("name", WORDS.fields.name, { autocomplete: "name", maxlength: 200, required: !identity }),
    field("email", WORDS.fields.email, { type: "email", autocomplete: "email", maxlength: 254, required: !identity }),
    whichClub(),
    field("contract", WORDS.fields.contract, { maxlength: 500 }),
    kind === "cancellation" && cancellationFields(),
    h("div", { class: "actions" },
      h("button", { class: "button button-wide", id: "state", "data-continue": true }, working(WORDS.next, text.busy)),
      h("p", { class: "fine" }, icon("info"), h("span", {}, WORDS.stepsLeft, " ", privacyNotice(place.club ?? entered.clubId)))));
  for (const [name, value] of Object.entries(entered)) {
    const control = filled.elements.namedItem(name);
    if (control instanceof RadioNodeList || control instanceof HTMLInputElement || control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement) control.value = String(value);
  }
  showReason(filled);
  const keep = () => statementDraft.keep({ kind, body: bodyOf(filled) });
  return h("div", { class: "member" },
    h("div", { class: "step-head" }, heading(WORDS[kind].heading), h("p", { class: "lead" }, identity ? WORDS[kind].leadKnown : WORDS[kind].lead)), filled);
}

/** Asks for the club where neither the address nor a login says it, so that the acknowledgement can name who gets it. */
function whichClub() {
  const { place, identity, clubs = [] } = get();
  if (place.club || identity || clubs.length < 2) return null;
  return labelled("clubId", WORDS.fields.clubId, (common) => h("select", { ...common, onchange: (/** @type {any} */ { currentTarget }) => loadDocuments(currentTarget.value, quietly) },
    h("option", { value: "" }, WORDS.unknownClub), clubs.map(({ id, name }) => h("option", { value: id }, name))));
}

const cancellationFields = () => [
  h("fieldset", { class: "group", onchange: (/** @type {Event & { currentTarget: HTMLElement }} */ { currentTarget }) => showReason(/** @type {HTMLFormElement} */ (currentTarget.closest("form"))) },
    h("legend", {}, WORDS.type.label),
    h("div", { class: "choices" }, /** @type {const} */ (["ordinary", "extraordinary"]).map((type) =>
      h("label", { class: "choice" },
        h("input", { type: "radio", name: "type", value: type, checked: type === "ordinary", "data-type": type }),
        h("span", {}, h("strong", {}, WORDS.type[type].name), h("small", {}, WORDS.type[type].about)))))),
  h("div", { "data-reason": true }, lines("reason", { maxlength: 2000, rows: 4 })),
  field("endDate", WORDS.fields.endDate, { type: "date" }),
  lines("postalAddress", { autocomplete: "street-address", maxlength: 500, rows: 3 }),
];

/**
 * @param {"reason" | "postalAddress"} name
 * @param {import("../dom.js").Attributes} attributes
 */
const lines = (name, attributes) => labelled(name, WORDS.fields[name], (common) =>
  h("textarea", { ...common, ...attributes, oninput: (/** @type {any} */ { currentTarget }) => markOne(currentTarget, "") }));

/**
 * Only an extraordinary cancellation has a reason.
 * @param {HTMLFormElement} filled
 */
function showReason(filled) {
  const place = filled.querySelector(/** @type {"div"} */ ("[data-reason]"));
  if (place) place.hidden = new FormData(filled).get("type") !== "extraordinary";
}

/**
 * @param {SubmitEvent} event
 * @param {Kind} kind
 */
async function submit(event, kind) {
  event.preventDefault();
  const filled = /** @type {HTMLFormElement} */ (event.currentTarget);
  const body = bodyOf(filled);
  const errors = mistakes(filled, body);
  mark(filled, errors);
  if (Object.keys(errors).length) return;
  const { place, identity } = get();
  statementDraft.keep({ kind, body }); // the half hour begins again
  const problem = await state(kind, { ...body, language, ...(place.club && { clubId: place.club }), ...(kind === "cancellation" && identity && place.membership && { membership: place.membership }) });
  if (problem?.code !== "invalid_request") return;
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-form='statement']"));
  if (form) mark(form, Object.fromEntries(problem.errors.map((error) => [fieldOf(error.pointer), fieldText(error)])));
}

/**
 * What was entered, without empty fields.
 * @param {HTMLFormElement} filled
 * @returns {import("../contract").NewCancellation}
 */
function bodyOf(filled) {
  const values = [...new FormData(filled)].map(([name, value]) => [name, String(value).trim().replaceAll("\r\n", "\n")]);
  const isOrdinary = new FormData(filled).get("type") === "ordinary";
  return Object.fromEntries(values.filter(([name, value]) => value && !(isOrdinary && name === "reason")));
}

/**
 * @param {HTMLFormElement} filled
 * @param {import("../contract").NewCancellation} body
 */
function mistakes(filled, { name, email, type, reason }) {
  const isKnown = !!get().identity;
  const address = /** @type {HTMLInputElement} */ (filled.elements.namedItem("email"));
  return /** @type {Record<string, string>} */ ({
    ...(!name && !isKnown && { name: WORDS.fields.name.error }),
    ...((!address.validity.valid || (!email && !isKnown)) && { email: text.person.fields.email.error }),
    ...(type === "extraordinary" && !reason && { reason: WORDS.fields.reason.error }),
  });
}

/**
 * What will be declared, and the button that declares it.
 * @param {Kind} kind
 * @param {import("../contract").Statement} stated
 */
function repeated(kind, { statement: declared, endDate: online, membership }) {
  const { details } = get();
  const { name, email, contract, type, reason, postalAddress } = declared;
  const wanted = declared.endDate;
  const isLater = online && wanted && wanted < online;
  const end = kind === "cancellation" && (online ? date(online) : !wanted ? WORDS.earliest : type === "ordinary" ? WORDS.orEarliest(date(wanted)) : date(wanted));
  const facts = /** @type {[string, string | false | undefined][]} */ ([
    [WORDS.fields.name.label, name], [WORDS.fields.email.label, email], [WORDS.fields.contract.label, contract], [WORDS.membership, membership],
    [WORDS.club, details && details.id === declared.clubId ? details.name : clubName(declared.clubId)],
    [WORDS.type.label, type && WORDS.type[type].name], [WORDS.fields.reason.label, reason],
    [WORDS.fields.endDate.label, end], [WORDS.fields.postalAddress.label, postalAddress],
  ]);
  return h("div", { class: "member", "data-repeated": kind },
    h("div", { class: "step-head" }, heading(WORDS[kind].repeated), h("p", { class: "lead" }, WORDS.check)),
    h("dl", { class: "facts panel declared" }, facts.filter(([, value]) => value).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))),
    isLater && h("p", { class: "notice", "data-later": online }, icon("info"), WORDS.later(date(wanted), date(online))),
    online && h("p", { class: "notice", "data-online": online }, icon("info"), WORDS.online(date(online))),
    h("div", { class: "actions" },
      button({ class: "button button-wide", id: "confirm", "data-confirm-statement": true, onclick: confirmStatement }, working(WORDS[kind].confirm, text.busy)),
      button({ class: "link", "data-correct-statement": true, onclick: correctStatement }, WORDS.change)));
}

/** @param {import("../contract").Acknowledgement} received */
function acknowledged({ kind, reference, receivedAt, text: words, mailedTo }) {
  const [title, ...rest] = words.split("\n\n");
  return h("div", { class: "member", "data-received": kind, "data-received-at": receivedAt, "data-reference": reference },
    h("div", { class: "step-head" }, h("span", { class: "seal is-good" }, icon("tick")), heading(title)),
    h("div", { class: "panel acknowledgement", "data-acknowledgement": true }, rest.map((part) => h("p", {}, part))),
    h("p", { class: "notice", "data-mailed": !!mailedTo }, icon("info"), mailedTo ? WORDS.mailed(mailedTo) : WORDS.notMailed),
    h("div", { class: "actions actions-row" },
      button({ class: "button button-quiet", "data-print": true, onclick: () => print() }, WORDS.print)));
}
