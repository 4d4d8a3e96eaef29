// A merchant's page, which uses the processor's library as its documentation says. Its address says how.
const given = new URLSearchParams(location.search);
const [key, clientSecret, redirect] = ["key", "secret", "redirect"].map((name) => given.get(name));
const theme = given.get("theme") ?? "stripe";
document.documentElement.classList.add(theme);

const stripe = window.Stripe(key);
const elements = stripe.elements({ clientSecret, appearance: { theme, variables: { colorPrimary: "#6b46ff" } }, locale: given.get("locale") ?? "en" });
const element = elements.create("payment");
for (const event of ["ready", "loaderror", "change"]) {
  element.on(event, ({ elementType, ...more }) => (document.body.dataset[event] = `${elementType} ${JSON.stringify(more)}`));
}
element.mount("#fields");

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const back = new URL(location);
  back.searchParams.set("returned", "true");
  const { error, paymentIntent } = await stripe.confirmPayment({ elements, confirmParams: { return_url: back.href }, redirect });
  const result = document.querySelector("#result");
  result.textContent = error ? `${error.type}, ${error.decline_code ?? error.code}: ${error.message}` : `paid: ${paymentIntent.status}`;
});
