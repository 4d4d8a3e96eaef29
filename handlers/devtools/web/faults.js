// @ts-check
/** Switches for faults of other systems, and problems of the gateway itself. Each shows the request that it sends, for terminals and tests. */
import * as api from "./api.js";
import { button, h, heading } from "./dom.js";
import { copy } from "./page.js";

const PAYMENT = { method: "POST", path: "/sales/*/payments" };

/**
 * The faults of the club system, those for one call first: the simulator applies the first one that matches.
 * @type {{ name: string, title: string, what: string, faults: api.Fault[] }[]}
 */
const SWITCHES = [
  { name: "lost", title: "The response to the next payment is lost", what: "It is recorded, but the response is lost: the payment is in doubt.",
    faults: [{ match: PAYMENT, kind: "drop_after", times: 1 }] },
  { name: "refused", title: "The next payment is not recorded", what: "503, nothing done: in doubt as well, because the outcome is unknown.",
    faults: [{ match: PAYMENT, kind: "error_before", status: 503, times: 1 }] },
  { name: "refund", title: "The club refuses the next payment", what: "422: the card is refunded.",
    faults: [{ match: PAYMENT, kind: "error_before", status: 422, times: 1 }] },
  { name: "sms", title: "Text messages fail", what: "The club system cannot send codes.",
    faults: [
      { match: { method: "POST", path: "/signature_requests" }, kind: "error_before", status: 503 },
      { match: { method: "POST", path: "/contact_migration_requests" }, kind: "error_before", status: 503 },
    ] },
  { name: "down", title: "The club system is down", what: "Every call: 503, nothing done.", faults: [{ match: {}, kind: "error_before", status: 503 }] },
  { name: "slow", title: "The club system is slow", what: "Every response takes two seconds.", faults: [{ match: {}, kind: "delay", delayMs: 2_000 }] },
];

/** @type {typeof SWITCHES} the gateway's own */
const GATEWAY = [
  { name: "slow-api", title: "The API is slow", what: "Every request waits for two seconds.", faults: [{ match: { path: "/v1/**" }, kind: "delay", delayMs: 2_000 }] },
  { name: "dropped", title: "The API loses its responses", what: "Writes are carried out, then the connection breaks.",
    faults: ["POST", "PUT", "PATCH", "DELETE"].map((method) => ({ match: { method, path: "/v1/**" }, kind: "drop_after" })) },
];

/** The problem that is chosen, which stays when the tab is drawn again. */
const chosen = { operation: "POST /v1/registrations/{id}/payment", code: "processor_unavailable" };

/** The processor's settings for its webhooks, with a label for each. */
const WEBHOOKS = [
  ["normal", "arrive"], ["late", "are late"], ["drop", "get lost"], ["duplicate", "arrive twice"], ["reorder", "change their order"],
];

const read = async () => {
  const [faults, sandbox, operations] = await Promise.all([api.faults(), api.sandboxSettings(), api.operations()]);
  return { faults, sandbox, operations: [...operations] };
};

/**
 * @param {{ faults: api.Fault[], sandbox: api.SandboxSettings, operations: [string, string[]][] }} state
 * @param {import("./panel.js").Act} act
 */
function show({ faults, sandbox, operations }, act) {
  const others = faults.filter((fault) => isActive(fault) && ![...SWITCHES, ...GATEWAY].some((one) => one.faults.some((known) => same(known, fault))));
  const isAnything = faults.some(isActive) || sandbox.webhooks !== "normal";
  return [
    heading("The club system", isAnything && button("mend", { class: "quiet", "data-mend": true, onclick: () => act(async () => {
      await Promise.all([api.setFaults([]), api.setSandboxSettings({ ...sandbox, webhooks: "normal" })]);
      return "The faults are removed.";
    }) }, "Remove all faults")),
    h("ul", { class: "switches" }, SWITCHES.map((one) => h("li", {}, toggle(one, faults, act)))),
    others.length > 0 && h("p", { class: "soft" }, "Also active: ", others.map((fault) => `${fault.code ?? fault.kind} ${fault.match.method ?? ""} ${fault.match.path ?? "every call"}`).join(", "), "."),
    heading("The gateway"),
    problemForm(new Map(operations), act),
    h("ul", { class: "switches" }, GATEWAY.map((one) => h("li", {}, toggle(one, faults, act)))),
    heading("The processor's webhooks"),
    h("div", { class: "choices", role: "radiogroup", "aria-label": "The processor's webhooks" }, WEBHOOKS.map(([value, words]) =>
      h("label", {}, h("input", { type: "radio", name: "webhooks", value, "data-key": `webhooks-${value}`, checked: sandbox.webhooks === value,
        onchange: () => act(async () => void (await api.setSandboxSettings({ ...sandbox, webhooks: value }))) }), words))),
    h("p", { class: "soft" }, "Of this world. ", asCurl("webhooks", "PUT", `/sandbox/settings?world=${api.world()}`, { webhooks: sandbox.webhooks }, act)),
  ];
}

/**
 * The choice of a problem with which an operation answers.
 * @param {Map<string, string[]>} operations
 * @param {import("./panel.js").Act} act
 */
function problemForm(operations, act) {
  /** @param {number} [times] @returns {api.Fault} */
  const fault = (times) => {
    const [method, path] = chosen.operation.split(" ");
    return { match: { method, path }, kind: "problem", code: chosen.code, ...(times && { times }) };
  };
  const codes = h("select", { "aria-label": "The problem", "data-key": "problem-code", "data-problem-code": true, onchange: (event) => (chosen.code = event.target.value) });
  const list = () => {
    const possible = operations.get(chosen.operation) ?? [];
    if (!possible.includes(chosen.code)) chosen.code = possible[0];
    codes.replaceChildren(...possible.map((code) => h("option", { selected: code === chosen.code }, code)));
  };
  list();
  const of = h("select", { "aria-label": "The operation", "data-key": "problem-operation", "data-operations": true, onchange: (event) => {
    chosen.operation = event.target.value;
    list();
  } }, [...operations.keys()].map((name) => h("option", { selected: name === chosen.operation }, name)));
  /** @param {number} [times] */
  const provoke = (times) => act(async () => {
    const others = (await api.faults()).filter((one) => isActive(one) && !(one.code && one.match.method === fault().match.method && one.match.path === fault().match.path));
    await setAll([fault(times), ...others]);
    return `${chosen.operation} answers ${chosen.code}.`;
  });
  return h("div", { class: "problem" },
    h("p", { class: "soft" }, "Have an operation answer with a problem:"), of, codes,
    h("div", { class: "row" },
      button("problem-once", { "data-problem": "once", onclick: () => provoke(1) }, "Next time"),
      button("problem-always", { "data-problem": "always", onclick: () => provoke() }, "Every time"),
      button("curl-problem", { class: "copy", "aria-label": "curl for the problem: copy", onclick: () => act(() => copy(api.curl("PUT", api.controlPath("faults"), [fault(1)]))) }, "curl")));
}

/**
 * @param {typeof SWITCHES[number]} one
 * @param {api.Fault[]} faults
 * @param {import("./panel.js").Act} act
 */
function toggle(one, faults, act) {
  const own = faults.filter((fault) => one.faults.some((known) => same(known, fault)));
  const isOn = own.some(isActive);
  const hits = own.reduce((sum, fault) => sum + (fault.hits ?? 0), 0);
  return h("div", { class: "switch" },
    h("button", { type: "button", role: "switch", "aria-checked": String(isOn), "aria-describedby": `about-${one.name}`, "data-key": `fault-${one.name}`, "data-fault": one.name,
      onclick: () => act(() => turn(one, !isOn)) }, h("span", { class: "knob", "aria-hidden": "true" }), h("span", {}, one.title)),
    h("p", { class: "soft", id: `about-${one.name}` }, one.what, hits > 0 && h("strong", {}, ` Hit ${hits === 1 ? "once" : `${hits} times`}.`), " ",
      asCurl(one.name, "PUT", api.controlPath("faults"), one.faults, act)));
}

/**
 * @param {typeof SWITCHES[number]} one
 * @param {boolean} on
 */
async function turn(one, on) {
  const others = (await api.faults()).filter((fault) => isActive(fault) && !one.faults.some((known) => same(known, fault)));
  await setAll(on ? [...others, ...one.faults] : others);
}

/** @param {api.Fault[]} wanted */
const setAll = (wanted) => api.setFaults(wanted.map(({ hits, ...fault }) => fault).sort((a, b) => rank(a) - rank(b)));

/** @param {api.Fault} fault faults for one path come before those for every call, or every operation */
const rank = ({ match: { path } }) => (path && path !== "/v1/**" ? 0 : 1);

/** @param {api.Fault} fault whether it still has a call to hit */
const isActive = ({ times, hits = 0 }) => times === undefined || hits < times;

/**
 * @param {api.Fault} one
 * @param {api.Fault} other
 */
const same = (one, other) =>
  one.kind === other.kind && one.status === other.status && one.delayMs === other.delayMs && one.times === other.times &&
  one.match.method === other.match.method && one.match.path === other.match.path;

/**
 * A button that copies a request for a terminal, and shows it.
 * @param {string} key
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {import("./panel.js").Act} act
 */
function asCurl(key, method, path, body, act) {
  const command = api.curl(method, path, body);
  return button(`curl-${key}`, { class: "copy", title: command, "aria-label": `curl for ${key}: copy`, onclick: () => act(() => copy(command)) }, "curl");
}

/** @type {import("./panel.js").Tab} */
export const faults = { name: "faults", title: "Faults", read, show };
