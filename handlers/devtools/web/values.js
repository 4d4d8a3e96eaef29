// @ts-check
/** Values with a known effect, to click instead of typing. */
import { button, h, heading } from "./dom.js";
import { copy, fill } from "./page.js";

const CARDS = [
  { value: "4242 4242 4242 4242", what: "succeeds", tone: "good" },
  { value: "4000 0025 0000 3155", what: "the bank asks first", tone: "warn" },
  { value: "4000 0000 0000 0002", what: "is declined", tone: "bad" },
  { value: "4000 0000 0000 9995", what: "insufficient funds", tone: "bad" },
];

const ACCOUNTS = [
  { value: "FR14 2004 1010 0505 0001 3M02 606", what: "is accepted", tone: "good" },
  { value: "FR40 9999 9000 0000 0000 0000 099", what: "is refused by the club system", tone: "bad" },
  { value: "FR14 2004 1010 0505 0001 3M02 607", what: "has wrong check digits", tone: "bad" },
];

/**
 * @param {unknown} _
 * @param {import("./panel.js").Act} act
 */
const show = (_, act) => [
  heading("Test cards"),
  h("p", { class: "soft" }, "For the processor's page, where they can be clicked as well."),
  list(CARDS, act, copy),
  heading("Accounts for direct debit"),
  list(ACCOUNTS, act, async (value) => {
    const said = await copy(value);
    return fill("iban", value) ? "Filled in." : said;
  }),
];

/**
 * @param {{ value: string, what: string, tone: string }[]} values
 * @param {import("./panel.js").Act} act
 * @param {(value: string) => Promise<string>} use
 */
const list = (values, act, use) =>
  h("ul", { class: "values" }, values.map(({ value, what, tone }) =>
    h("li", {}, button(`value-${value}`, { class: "value", "data-value": value, onclick: () => act(() => use(value)) },
      h("span", { class: "mono" }, value), h("span", { class: tone }, what)))));

/** @type {import("./panel.js").Tab} */
export const values = { name: "values", title: "Values", read: async () => null, show };
