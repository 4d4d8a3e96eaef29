// The double of Stripe's script: one card field, and the calls that a page with the Payment Element makes.
window.Stripe = (key) => {
  const api = "https://api.stripe.com";
  const idOf = (secret) => secret.split("_secret_")[0];
  const read = async (answer) => {
    const { error, ...object } = await (await answer).json();
    return error ? { error } : { paymentIntent: object };
  };
  const post = (path, fields) => read(fetch(api + path, { method: "POST", body: new URLSearchParams({ key, ...fields }) }));

  return {
    retrievePaymentIntent: (secret) =>
      read(fetch(`${api}/v1/payment_intents/${idOf(secret)}?${new URLSearchParams({ key, client_secret: secret })}`)),

    elements({ clientSecret, appearance, locale }) {
      if (!clientSecret || !appearance || !locale) throw new Error("elements() lacks an option");
      const field = document.createElement("input");
      field.setAttribute("data-double-card", appearance.variables.colorPrimary);
      field.setAttribute("aria-label", "Card number");
      const listeners = {};
      return {
        clientSecret,
        field,
        create(kind) {
          if (kind !== "payment") throw new Error(`no element is called ${kind}`);
          return {
            on: (event, listener) => (listeners[event] = listener),
            mount(place) {
              place.append(field);
              setTimeout(() => listeners.ready?.());
            },
          };
        },
      };
    },

    async confirmPayment({ elements, confirmParams, redirect }) {
      const { clientSecret: secret, field } = elements;
      if (redirect !== "if_required" || !URL.canParse(confirmParams.return_url)) throw new Error("confirmPayment() lacks an option");
      if (!field.value) return { error: { type: "validation_error", message: "Your card number is incomplete." } };
      const fields = { client_secret: secret, return_url: confirmParams.return_url, "payment_method_data[card][number]": field.value };
      const { error, paymentIntent } = await post(`/v1/payment_intents/${idOf(secret)}/confirm`, fields);
      if (error || paymentIntent.status !== "requires_action") return { error, paymentIntent };
      // The bank shows its own page, which the buyer approves, and which leads back.
      await post(`/double/challenge/${idOf(secret)}`, { client_secret: secret, approve: "true" });
      const back = new URL(confirmParams.return_url);
      back.searchParams.set("payment_intent", idOf(secret));
      back.searchParams.set("payment_intent_client_secret", secret);
      back.searchParams.set("redirect_status", "succeeded");
      location.assign(back);
      return new Promise(() => {});
    },
  };
};
