// @ts-check
/** The world: its name, its clock, its reset, and links to other views of it. */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import * as page from "./page.js";

const LEAPS = [["PT10M", "+ 10 min"], ["PT1H", "+ 1 h"], ["P1D", "+ 1 day"], ["P1M", "+ 1 month"]];

/** How far the two clocks may differ, in ms, if neither was set: the time that a read takes. */
const TOLERANCE = 10_000;

async function read() {
  const [{ now }, { worlds }] = await Promise.all([api.clock(), api.answers()]);
  const ahead = Date.parse(now) - Date.now();
  const known = new Set(["demo", api.world(), ...(page.settings().worlds ?? []), ...worlds]);
  // To the minute, so that it is not rendered again at every read.
  return { minute: now.slice(0, 16), isSet: Math.abs(ahead) > TOLERANCE, worlds: [...known].sort() };
}

/**
 * @param {{ minute: string, isSet: boolean, worlds: string[] }} state
 * @param {import("./panel.js").Act} act
 */
function show({ minute, isSet, worlds }, act) {
  const name = h("input", { type: "text", id: "world-name", list: "worlds", placeholder: "demo-anything", spellcheck: "false", autocomplete: "off", "data-key": "world-name", "data-field": "world" });
  return [
    heading("World"),
    h("p", { class: "soft" }, "A gateway, a club system and a card processor of its own, with its own people and payments. This browser works in ", h("strong", {}, api.world()), ". By curl: ", h("code", {}, `-H 'X-Frontdesk-World: ${api.world()}'`)),
    h("form", { class: "row", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); act(() => enter(name.value.trim())); } },
      h("label", { for: "world-name" }, "Go to "), name,
      h("datalist", { id: "worlds" }, worlds.map((one) => h("option", { value: one }))),
      h("button", { "data-enter": true, "data-key": "enter" }, "Enter")),
    h("div", { class: "row" }, worlds.filter((one) => one !== api.world()).map((one) => button(`world-${one}`, { class: "quiet", onclick: () => act(() => enter(one)) }, one))),

    heading("Clock"),
    h("p", { class: "soft" }, "The world's time: ", h("strong", { "data-clock": isSet ? "set" : "real" }, `${minute.replace("T", " ")} UTC`), isSet ? " (set)" : "",
      ". Registrations, codes of text messages and logins expire by it."),
    h("div", { class: "row" }, LEAPS.map(([advance, words]) => button(`leap-${advance}`, { "data-advance": advance, onclick: () => act(async () => void (await api.setClock({ advance }))) }, words)),
      isSet && button("leap-back", { class: "quiet", onclick: () => act(async () => void (await api.setClock({ now: new Date().toISOString() }))) }, "now")),

    heading("Start again"),
    h("p", { class: "soft" }, "Everything in ", api.world(), " as it was made: registrations, contacts, sales, payments, faults, settings and clock. The page goes to its start; another page that shows a registration of this world says that it is gone."),
    h("div", { class: "row" }, button("reset", { class: "danger", "data-reset": true, onclick: () => act(begin) }, `Reset ${api.world()}`)),

    heading("Look elsewhere"),
    h("ul", { class: "links" },
      [[`/sim/${api.world()}/_control/`, "The club system: contacts, sales, ledger, audit"], [`/sandbox/payments?world=${api.world()}`, "The sandbox processor's payments"], ["/docs", "The API's documentation"], ["/openapi.yaml", "The contract"]]
        .map(([href, words]) => h("li", {}, h("a", { href, target: "_blank", rel: "noopener", "data-key": href }, words)))),
  ];
}

/** @param {string} name */
function enter(name) {
  if (!api.WORLD_NAME.test(name)) throw new Error("A world must be demo, or demo- followed by letters, digits, dots, underscores and hyphens.");
  page.remember({ worlds: [...new Set([...(page.settings().worlds ?? []), name])] });
  api.enterWorld(name);
  page.startAgain();
}

async function begin() {
  await Promise.all([api.reset(), api.forgetAnswers()]);
  page.startAgain();
}

/** @type {import("./panel.js").Tab} */
export const world = { name: "world", title: "World", read, show };
