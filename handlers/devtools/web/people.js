// @ts-check
/** The login: the simulator acts as the club's own login, so one click logs in as a contact of the club. */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import * as page from "./page.js";

/** The tokens change at every read, so they are read again when they are needed. */
const read = async () => (await api.personas()).map(({ identityToken, accessToken, ...rest }) => rest);

/**
 * @param {string} key
 * @returns {Promise<api.Persona>} with tokens that were signed just now
 */
async function fresh(key) {
  const found = (await api.personas()).find((one) => one.key === key);
  if (!found) throw new Error(`The persona ${key} does not exist.`);
  return found;
}

/**
 * @param {api.Persona[]} list
 * @param {import("./panel.js").Act} act
 */
const show = (list, act) => [
  heading("People that the club knows"),
  h("p", { class: "soft" }, "Log in as one of them: the panel returns to the site as the club's own login would. ",
    page.registration() ? "Or use their account in this registration." : "In a registration, you can use their account."),
  h("ul", { class: "people" }, list.map((one) => h("li", { "data-persona": one.key }, card(one, act)))),
];

/**
 * @param {api.Persona} persona
 * @param {import("./panel.js").Act} act
 */
const card = ({ key, givenName, familyName, status, clubId, contactId, description }, act) =>
  h("div", { class: "card" },
    h("div", { class: "who" },
      h("span", { class: "avatar", "aria-hidden": "true" }, givenName.slice(0, 1) + familyName.slice(0, 1)),
      h("div", {},
        h("h4", {}, `${givenName} ${familyName}`, h("span", { class: "pill" }, key)),
        h("p", { class: "soft" }, `${status.replaceAll("_", " ")} · club ${api.last(clubId)} · contact ${api.last(contactId)}`))),
    h("p", {}, description),
    h("div", { class: "row" },
      button(`in-${key}`, { class: "strong", "data-sign-in": key, onclick: () => act(async () => page.signIn((await fresh(key)).identityToken)) }, "Log in"),
      page.registration() && button(`bring-${key}`, { "data-bring": key, onclick: () => act(async () => page.bringAccount((await fresh(key)).accessToken)) }, "Use this account")),
    h("div", { class: "row soft" }, "Copy",
      copier(key, "identityToken", "as the club's own login signs it, for ten minutes", act, async () => (await fresh(key)).identityToken),
      copier(key, "accessToken", "of the club system", act, async () => (await fresh(key)).accessToken),
      copier(key, "invite", "the command that prints an invitation link", act, async () => invite(contactId, clubId))));

/**
 * @param {string} key
 * @param {string} name
 * @param {string} title
 * @param {import("./panel.js").Act} act
 * @param {() => Promise<string>} text
 */
const copier = (key, name, title, act, text) =>
  button(`${name}-${key}`, { class: "copy", title, "aria-label": `${name} of ${key}: copy`, onclick: () => act(async () => page.copy(await text())) }, name);

/**
 * Only the operators' listener creates links, and no page can reach it, so this is a command.
 * @param {string} contactId
 * @param {string} clubId
 */
const invite = (contactId, clubId) =>
  `go run . invite --contact ${api.last(contactId)} --club ${api.last(clubId)}${api.world() === "demo" ? "" : ` --world ${api.world()}`}`;

/** @type {import("./panel.js").Tab} */
export const people = { name: "people", title: "People", read, show };
