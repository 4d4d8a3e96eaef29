// @ts-check
/**
 * The developer panel: a custom element at the end of the page, with its own styles and shadow tree, so that the page
 * does not depend on it. This file is its frame: opening and closing, tabs, reading again when something has changed. What
 * a tab shows is in the file with the tab's name.
 *
 * It reads only while it is open and visible. One event stream says when; it is quiet while nothing happens, so that
 * the browser's own list of requests stays readable.
 */
import * as api from "./api.js";
import { button, h } from "./dom.js";
import * as page from "./page.js";
import { faults } from "./faults.js";
import { people } from "./people.js";
import { mail } from "./mail.js";
import { latest, phone } from "./phone.js";
import { requests } from "./requests.js";
import { values } from "./values.js";
import { world } from "./world.js";

/**
 * @typedef {object} Tab
 * @property {string} name
 * @property {string} title
 * @property {() => Promise<any>} read what it shows
 * @property {(data: any, act: Act) => import("./dom.js").Child[]} show
 *
 * @callback Act runs the developer's action, shows its result, and renders the tab again
 * @param {() => Promise<string | void> | string | void} action returns the text to show
 * @returns {Promise<void>}
 */

/** @type {Tab[]} */
const TABS = [requests, people, phone, mail, values, faults, world];

/** Changes come in bursts; one read after a burst shows all of them. */
const SETTLE = 150;

/** How wide a window must be for the page to make room and still keep its desktop layout. */
const ROOM = matchMedia("(min-width: 75rem)");

/** In narrower windows the panel is a sheet at the bottom. */
const NARROW = matchMedia("(max-width: 40rem)");

/** As in panel.css. */
const WIDTH = "27rem";
const HEIGHT = "min(62dvh, 32rem)";

/** How long the result of an action is shown. */
const SAID = 4_000;

class Panel extends HTMLElement {
  #root = this.attachShadow({ mode: "open" });
  #open = page.settings().open ?? false;
  #tab = TABS.find((tab) => tab.name === page.settings().tab) ?? TABS[0];
  /** @type {EventSource | undefined} */
  #changes;
  #reading = 0;
  /** What is shown, to render it again only after a change. */
  #shown = "";
  #said = 0;

  connectedCallback() {
    const frame = this.#frame();
    frame.hidden = true;
    this.#root.append(h("link", { rel: "stylesheet", href: "/panel/panel.css", onload: () => (frame.hidden = false) }), frame);
    document.addEventListener("keydown", this.#onKey);
    document.addEventListener("visibilitychange", () => this.#follow());
    for (const width of [ROOM, NARROW]) width.addEventListener("change", () => this.#makeRoom());
    this.#draw();
  }

  #frame() {
    const tabs = TABS.map((tab) => h("button", {
      type: "button", role: "tab", id: `tab-${tab.name}`, "data-tab": tab.name, "aria-controls": "pane",
      onclick: () => this.#choose(tab),
    }, tab.title));
    return h("aside", { "aria-label": "Developer panel", "data-panel": true },
      button("handle", { class: "handle", "aria-expanded": "false", "aria-label": "mock: open the developer panel", title: "Developer panel: key ` (left of 1)", onclick: () => this.#toggle() }, "mock"),
      h("div", { class: "panel", id: "panel", hidden: true },
        h("header", {},
          h("h2", {}, "Frontdesk ", h("span", { class: "mock" }, "mock")),
          button("world", { class: "quiet", "data-world": true, title: "The world that this page works in", onclick: () => this.#choose(world, { focus: true }) }),
          h("span", { class: "fill" }),
          h("kbd", { title: "opens and closes the panel; with Ctrl, even while a field has the focus" }, "`"),
          button("close", { class: "quiet", "aria-label": "Close the panel", onclick: () => this.#toggle() }, "✕")),
        h("div", { "data-latest": true }),
        h("div", { role: "tablist", "aria-label": "Parts of the panel", onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onTabKey(event) }, tabs),
        h("div", { class: "pane", id: "pane", role: "tabpanel", tabindex: 0, "data-pane": "" }),
        h("p", { class: "said", role: "status", "data-said": "" })));
  }

  /** @param {string} selector */
  #find = (selector) => /** @type {HTMLElement} */ (this.#root.querySelector(selector));

  /** The physical key left of 1, whatever the layout types with it. While a field has the focus, the key types into the field. */
  #onKey = (/** @type {KeyboardEvent} */ event) => {
    const isKey = event.code === "Backquote" || event.key === "`";
    if (!isKey || event.shiftKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
    const at = event.composedPath()[0];
    const isField = at instanceof Element && at.matches("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable]");
    if (isField && !event.ctrlKey) return;
    event.preventDefault();
    this.#toggle();
  };

  #toggle() {
    const hadFocus = this.matches(":focus-within");
    this.#open = !this.#open;
    page.remember({ open: this.#open });
    this.#draw();
    if (hadFocus) this.#find(this.#open ? "[data-key='close']" : "[data-key='handle']").focus({ preventScroll: true });
  }

  /**
   * @param {Tab} tab
   * @param {{ focus?: boolean }} [options]
   */
  #choose(tab, { focus = false } = {}) {
    this.#tab = tab;
    page.remember({ tab: tab.name });
    this.#draw();
    if (focus) this.#find(`[data-tab='${tab.name}']`).focus();
  }

  /** Arrow keys move through the tabs, as the ARIA practices describe. */
  #onTabKey(/** @type {KeyboardEvent} */ event) {
    const at = TABS.indexOf(this.#tab);
    const to = /** @type {Record<string, number>} */ ({ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 })[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#choose(TABS.at(to % TABS.length) ?? TABS[0], { focus: true });
  }

  #draw() {
    this.#find(".panel").hidden = !this.#open;
    this.#find(".handle").hidden = this.#open;
    this.#find("[data-world]").textContent = api.world();
    for (const tab of TABS) {
      const element = this.#find(`[data-tab='${tab.name}']`);
      element.ariaSelected = String(tab === this.#tab);
      element.tabIndex = tab === this.#tab ? 0 : -1;
    }
    this.#find("#pane").setAttribute("aria-labelledby", `tab-${this.#tab.name}`);
    this.#makeRoom();
    this.#follow();
    if (this.#open) this.#read();
  }

  /**
   * Where there is room for both, the page moves aside, as with the browser's own tools; otherwise the panel covers it. Above a
   * sheet, the page can be scrolled to its end.
   */
  #makeRoom() {
    const { style } = document.documentElement;
    style.marginInlineEnd = this.#open && ROOM.matches ? WIDTH : "";
    style.marginBlockEnd = this.#open && NARROW.matches ? HEIGHT : "";
  }

  #follow() {
    const isWanted = this.#open && !document.hidden;
    if (isWanted === !!this.#changes) return;
    this.#changes?.close();
    this.#changes = undefined;
    if (!isWanted) return;
    this.#changes = new EventSource("/panel/changes");
    this.#changes.onerror = () => this.#say("The mock back end does not respond. Is it running?", "trouble");
    this.#changes.onmessage = () => {
      clearTimeout(this.#reading);
      this.#reading = setTimeout(() => this.#read(), SETTLE);
    };
  }

  async #read() {
    const tab = this.#tab;
    try {
      const [data, messages] = await Promise.all([tab.read(), api.messages()]);
      if (tab !== this.#tab) return;
      const shown = JSON.stringify([tab.name, data, page.registration()]);
      if (shown !== this.#shown && !this.#isTyping()) {
        this.#show(tab, data);
        this.#shown = shown;
      }
      this.#showLatest(tab === phone ? [] : latest(messages, this.#act));
      if (this.#find("[data-said]").dataset.said === "trouble") this.#say("");
    } catch (error) {
      this.#say(messageOf(error), "trouble");
    }
  }

  /** @param {Node[]} news */
  #showLatest(news) {
    const place = this.#find("[data-latest]");
    const words = news.map((node) => node.textContent).join("");
    if (words !== place.textContent) place.replaceChildren(...news);
  }

  /** A field is not rendered again while the developer types in it. */
  #isTyping() {
    return !!this.#root.activeElement?.matches("input[type='text']");
  }

  /**
   * Shows a tab, and puts the focus back where it was.
   * @param {Tab} tab
   * @param {any} data
   */
  #show(tab, data) {
    const pane = this.#find("#pane");
    const focused = /** @type {HTMLElement | null} */ (this.#root.activeElement)?.dataset.key;
    if (pane.dataset.pane !== tab.name) pane.scrollTop = 0;
    pane.dataset.pane = tab.name;
    const content = h("div", {}, ...tab.show(data, this.#act));
    pane.replaceChildren(...content.childNodes);
    if (focused && !this.#root.activeElement) this.#find(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** @type {Act} */
  #act = async (action) => {
    try {
      const said = await action();
      if (said) this.#say(said, "done");
      this.#shown = "";
      await this.#read();
    } catch (error) {
      this.#say(messageOf(error), "failed");
    }
  };

  /**
   * @param {string} words
   * @param {"" | "done" | "failed" | "trouble"} [kind] trouble disappears when reading succeeds again
   */
  #say(words, kind = "") {
    const place = this.#find("[data-said]");
    place.textContent = words;
    place.dataset.said = kind;
    clearTimeout(this.#said);
    if (kind === "done") this.#said = setTimeout(() => this.#say(""), SAID);
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

customElements.define("frontdesk-panel", Panel);
document.body.append(document.createElement("frontdesk-panel"));
