// @ts-check
/**
 * The captcha, if the operator has configured one: the widget of hCaptcha, reCAPTCHA or Turnstile. Its script must come
 * from the provider, and is loaded only when the gateway asks for a captcha. The Content-Security-Policy allows it then.
 */
import { ask, button, h } from "./dom.js";
import { text } from "./text.js";

/** The providers' scripts, and the global objects that they define. Each of them has `render`. */
const PROVIDERS = new Map(Object.entries({
  hcaptcha: { script: "https://js.hcaptcha.com/1/api.js", global: "hcaptcha" },
  recaptcha: { script: "https://www.google.com/recaptcha/api.js", global: "grecaptcha" },
  turnstile: { script: "https://challenges.cloudflare.com/turnstile/v0/api.js", global: "turnstile" },
}));

/** The function that a provider's script calls when it is ready. */
const READY = "frontdeskCaptchaReady";

/** @type {Promise<any> | undefined} */
let loaded;

/**
 * Has the visitor solve a captcha.
 * @param {import("./contract").ChallengeWidget} challenge
 * @returns {Promise<string | undefined>} the response; undefined if the visitor closed the dialog, or no widget can be shown
 */
export async function solve({ provider, siteKey }) {
  const widget = PROVIDERS.get(provider);
  if (!widget || !siteKey) return undefined;
  const place = h("div", { "data-challenge": provider });
  const dialog = ask(text.challenge.heading, h("p", { class: "dialog-about" }, text.challenge.lead), place,
    h("div", { class: "dialog-actions" }, button({ class: "button-quiet", onclick: () => dialog.close() }, text.challenge.cancel)));
  const closed = new Promise((resolve) => dialog.addEventListener("close", () => resolve(undefined)));
  /** @returns {Promise<string>} */
  const show = () => load(widget).then(
    (widgets) => new Promise((resolve) => widgets.render(place, { sitekey: siteKey, callback: resolve })),
    () => new Promise((resolve) => {
      const again = () => {
        place.replaceChildren();
        resolve(show());
      };
      place.replaceChildren(h("p", { class: "field-error", role: "alert" }, text.challenge.unavailable), button({ class: "button", "data-again": true, onclick: again }, text.retry));
    }));
  const response = await Promise.race([show(), closed]);
  dialog.close();
  return response;
}

/**
 * The provider's library.
 * @param {{ script: string, global: string }} provider
 */
function load({ script, global }) {
  loaded ??= new Promise((resolve, reject) => {
    const page = /** @type {any} */ (window);
    page[READY] = () => resolve(page[global]);
    const element = h("script", { src: `${script}?render=explicit&onload=${READY}` });
    element.addEventListener("error", () => {
      loaded = undefined;
      element.remove();
      reject(new Error(`${script} was not loaded`));
    });
    document.head.append(element);
  });
  return loaded;
}
