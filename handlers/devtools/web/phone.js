// @ts-check
/** The phone: text messages that the club system sent, with the code to click. */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import { copy, fill } from "./page.js";

/** The number of messages shown. */
const SHOWN = 30;

/** A message older than this, in ms, is not announced: its code is about to expire. */
const NEWS = 10 * 60_000;

/** The messages whose code was used here. */
const used = new Set();

const read = async () => (await api.messages()).slice(0, SHOWN);

/**
 * @param {api.SMS[]} messages newest first
 * @param {import("./panel.js").Act} act
 */
const show = (messages, act) => [
  heading("The phone"),
  messages.length > 0
    ? h("ul", { class: "messages" }, messages.map((message) => h("li", { class: "message", "data-message": true },
      h("p", { class: "soft" }, message.to, h("span", { class: "fill" }), new Date(message.sentAt).toLocaleTimeString()),
      h("p", {}, "Your code is ", code(message, act)))))
    : h("p", { class: "empty" }, "No message yet. Codes appear here as the club system sends them: for a direct debit mandate, or for a move to another club."),
];

/**
 * The newest message, shown while another tab is open.
 * @param {api.SMS[]} messages newest first
 * @param {import("./panel.js").Act} act
 * @returns {Node[]}
 */
export function latest([message], act) {
  if (!message || used.has(keyOf(message)) || Date.now() - Date.parse(message.sentAt) > NEWS) return [];
  return [h("p", { class: "latest" }, h("span", {}, "SMS to ", message.to), h("span", { class: "fill" }), code(message, act))];
}

/**
 * @param {api.SMS} message
 * @param {import("./panel.js").Act} act
 */
const code = (message, act) =>
  button(`code-${keyOf(message)}`, { class: "digits", "data-code": message.code, title: "Fill it in, and copy it", onclick: () => act(() => use(message)) }, message.code);

/** @param {api.SMS} message */
async function use(message) {
  used.add(keyOf(message));
  const said = await copy(message.code);
  return fill("code", message.code) ? "Filled in." : said;
}

/** @param {api.SMS} message */
const keyOf = (message) => message.signatureRequestId + message.code;

/** @type {import("./panel.js").Tab} */
export const phone = { name: "phone", title: "Phone", read, show };
