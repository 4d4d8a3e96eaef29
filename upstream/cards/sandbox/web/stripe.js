/**
 * The double of Stripe's library for browsers (https://docs.stripe.com/js), as far as a page with the Payment Element
 * calls it. Names, arguments, events and results are those of the real library. Anything else throws an
 * IntegrationError, and changes nothing.
 *
 * The element is a frame of the sandbox, which the page cannot read. Calls to the API leave from the page, with its
 * publishable key, so the page's policy must allow them as it must allow Stripe's. All addresses follow from that of
 * this script.
 */
(() => {
  const home = new URL(".", document.currentScript.src);
  const api = home.host === "js.stripe.com" ? new URL("https://api.stripe.com/") : new URL("..", home);

  /** The time in milliseconds that a loaded frame has to report itself. One that does not is an error page. */
  const patience = 5000;

  const unreachable = {
    type: "api_connection_error", message: "The sandbox cannot be reached. Check the network and the page's security policy.",
  };

  /** The states of a payment that an element can be made for. */
  const payable = ["requires_payment_method", "requires_confirmation", "requires_action"];

  const themes = { stripe: "light", flat: "light", night: "dark" };
  const titles = {
    en: { element: "Secure payment input frame", challenge: "Your bank's page" },
    fr: { element: "Cadre de saisie sécurisé pour le paiement", challenge: "Page de votre banque" },
  };
  const titlesIn = (locale) => titles[new Intl.Locale(locale === "auto" ? navigator.language : locale).language] ?? titles.en;

  class IntegrationError extends Error {
    name = "IntegrationError";
  }

  const refuse = (message) => {
    throw new IntegrationError(message);
  };

  /** Refuses options that the double does not know. */
  const check = (call, options, known) => {
    if (options === null || typeof options !== "object") refuse(`${call} needs an object of options.`);
    const unknown = Object.keys(options).filter((name) => !known.includes(name));
    if (unknown.length) refuse(`${call} does not know the options ${unknown.join(", ")}. It knows ${known.join(", ")}.`);
  };

  const idOf = (secret) => /^(pi_\w+)_secret_\w+$/.exec(secret)?.[1] ?? refuse("The clientSecret must be that of a PaymentIntent.");

  /**
   * Makes a frame that fills its place, and takes the page's colours where it paints nothing. Its origin is its own, even
   * if the page is on the sandbox's: a page that reaches into it fails here as it does with Stripe's.
   */
  const newFrame = (address, title, height, scheme = "") => {
    const frame = Object.assign(document.createElement("iframe"), { src: address.href, title, sandbox: "allow-scripts allow-forms" });
    Object.assign(frame.style, { display: "block", width: "100%", height, border: "0", colorScheme: scheme });
    return frame;
  };

  /** Whether a message is what a frame says. Origins of such frames have no name. */
  const isFrom = (frame, { origin, source, data }, message) => source === frame.contentWindow && origin === "null" && data === message;

  /** Leaves the page. What the page waits for never comes. */
  const leave = (address) => {
    location.assign(address);
    return new Promise(() => {});
  };

  window.Stripe = (key, ...options) => {
    if (typeof key !== "string" || !key.startsWith("pk_")) refuse("Stripe() needs a publishable key, which begins with pk_.");
    if (options.length) refuse("Stripe() takes nothing but the publishable key.");

    /** Calls the API. The result has a paymentIntent or an error. */
    const call = async (method, path, fields) => {
      const form = new URLSearchParams({ key, ...fields });
      const address = new URL(`v1/payment_intents/${path}`, api);
      if (method === "GET") address.search = form;
      try {
        const answer = await fetch(address, method === "GET" ? {} : { method, body: form });
        const { error, ...paymentIntent } = await answer.json();
        return error ? { error } : { paymentIntent };
      } catch {
        return { error: unreachable };
      }
    };
    const retrieve = (secret) => call("GET", idOf(secret), { client_secret: secret });

    /** Elements and their contents, which a page does not see. */
    const groups = new WeakMap();

    /** The payment element: its methods for the page, and a way to ask the frame. */
    const newPaymentElement = (secret, appearance, locale) => {
      const frame = newFrame(new URL("element", home), titlesIn(locale).element, "0", themes[appearance.theme ?? "stripe"]);
      const listeners = { ready: [], loaderror: [], change: [] };
      const emit = (event, more) => listeners[event].forEach((listener) => listener({ elementType: "payment", ...more }));
      let port;
      let loaded;

      /** Connects the frame, which says so when it has loaded, also again after the page has moved it. */
      addEventListener("message", (event) => {
        if (!isFrom(frame, event, "element")) return;
        const channel = new MessageChannel();
        port = channel.port1;
        port.onmessage = ({ data: { height, change, enter } }) => {
          if (height !== undefined) frame.style.height = `${height}px`;
          if (height !== undefined) loaded();
          if (change) emit("change", { ...change, collapsed: false, value: { type: "card" } });
          if (enter) frame.closest("form")?.requestSubmit();
        };
        frame.contentWindow.postMessage({ appearance, locale }, "*", [channel.port2]);
      });

      const load = async () => {
        const frameLoads = new Promise((resolve, reject) => {
          loaded = resolve;
          frame.onload = () => setTimeout(() => reject(unreachable), patience);
        });
        const [{ error, paymentIntent }] = await Promise.all([retrieve(secret), frameLoads]);
        if (error) throw error;
        if (payable.includes(paymentIntent.status)) return;
        const message = `A PaymentIntent with the status ${paymentIntent.status} cannot be paid.`;
        throw { type: "invalid_request_error", code: "payment_intent_unexpected_state", message };
      };

      const element = {
        on(event, listener) {
          if (!listeners[event]) refuse(`The payment element has no event ${event}. It has ${Object.keys(listeners).join(", ")}.`);
          listeners[event].push(listener);
          return element;
        },
        mount(target) {
          const place = typeof target === "string" ? document.querySelector(target) : target;
          if (!(place instanceof HTMLElement)) refuse(`mount() needs an element of the page or a selector of one: ${target}`);
          if (frame.isConnected) refuse("The payment element is mounted already.");
          load().then(() => emit("ready"), (error) => emit("loaderror", { error }));
          place.replaceChildren(frame);
        },
      };

      /** Asks the frame for something. The answer comes by a port of its own. */
      const ask = async (question) => {
        if (!port || !frame.isConnected) refuse("The payment element must be mounted and ready.");
        const { port1, port2 } = new MessageChannel();
        port.postMessage(question, [port2]);
        return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
      };
      return { element, ask };
    };

    /** Shows the bank's page over the page of the merchant, until the buyer has answered or closed it. */
    const showChallenge = (address, locale) => new Promise((resolve) => {
      const dialog = document.createElement("dialog");
      const frame = newFrame(address, titlesIn(locale).challenge, "100%");
      Object.assign(dialog.style, {
        width: "min(27rem, 100vw - 1rem)", height: "min(34rem, 100dvh - 1rem)", maxWidth: "none", maxHeight: "none", padding: "0",
        margin: "auto", border: "0", borderRadius: "16px", overflow: "hidden", boxShadow: "0 0 0 100vmax rgb(0 0 0 / 50%)",
      });
      const answered = (event) => {
        if (isFrom(frame, event, "answered")) dialog.close();
      };
      addEventListener("message", answered);
      dialog.addEventListener("close", () => {
        removeEventListener("message", answered);
        dialog.remove();
        resolve();
      });
      dialog.append(frame);
      document.body.append(dialog);
      dialog.showModal();
    });

    /** Leads the buyer to the bank's page: away from this one, or in a frame, as the payment says. */
    const challenge = async (secret, locale, { id, next_action: action }) => {
      const address = new URL(`challenge/${id}`, home);
      address.search = new URLSearchParams({ key, payment_intent_client_secret: secret, locale });
      if (action.type === "redirect_to_url") return leave(address);
      await showChallenge(address, locale);
      const { error, paymentIntent } = await retrieve(secret);
      if (error || !payable.includes(paymentIntent.status)) return { error, paymentIntent };
      const code = "payment_intent_authentication_failure";
      const unanswered = { type: "invalid_request_error", code, message: "The buyer closed the bank's page." };
      return { error: { ...(paymentIntent.last_payment_error ?? unanswered), payment_intent: paymentIntent } };
    };

    return {
      retrievePaymentIntent: async (secret) => retrieve(secret),

      elements(options = {}) {
        check("elements()", options, ["clientSecret", "appearance", "locale"]);
        const { clientSecret, appearance = {}, locale = "auto" } = options;
        idOf(clientSecret);
        check("appearance", appearance, ["theme", "variables"]);
        if (!themes[appearance.theme ?? "stripe"]) refuse(`The theme must be one of ${Object.keys(themes).join(", ")}.`);
        const group = { secret: clientSecret, locale };
        const elements = {
          create(kind, ...more) {
            if (kind !== "payment" || more.length) refuse("The double creates the element payment, without options.");
            if (group.element) refuse("These elements have a payment element already.");
            Object.assign(group, newPaymentElement(clientSecret, appearance, locale));
            return group.element;
          },
        };
        groups.set(elements, group);
        return elements;
      },

      async confirmPayment(options) {
        check("confirmPayment()", options, ["elements", "confirmParams", "redirect"]);
        const { elements, confirmParams = {}, redirect = "always" } = options;
        check("confirmParams", confirmParams, ["return_url"]);
        const back = confirmParams.return_url;
        if (!["always", "if_required"].includes(redirect)) refuse("The option redirect must be always or if_required.");
        if (!URL.canParse(back)) refuse("The option confirmParams.return_url must be an absolute URL.");
        const { secret, locale, ask } = groups.get(elements) ?? refuse("The option elements must come from elements().");
        if (!ask) refuse("These elements have no payment element. Create and mount it first.");

        const { invalid, card } = await ask("card");
        if (invalid) return { error: invalid };
        let result = await call("POST", `${idOf(secret)}/confirm`, { client_secret: secret, return_url: back, ...card });
        if (result.paymentIntent?.status === "requires_action") result = await challenge(secret, locale, result.paymentIntent);
        const { error, paymentIntent } = result;
        if (error) {
          const explained = await ask({ explain: error.decline_code ?? error.code }).catch(() => {}); // the element may be gone
          return { error: { ...error, message: explained ?? error.message } };
        }
        if (redirect === "if_required") return { paymentIntent };
        const address = new URL(back);
        address.searchParams.set("payment_intent", paymentIntent.id);
        address.searchParams.set("payment_intent_client_secret", secret);
        address.searchParams.set("redirect_status", paymentIntent.status === "processing" ? "pending" : "succeeded");
        return leave(address);
      },
    };
  };
})();
