/**
 * The card fields, in a frame of a merchant's page. The frame says that it has loaded; the page then sends a port with the
 * appearance and the locale, and everything else goes through that port. The card leaves the frame only when the page
 * confirms the payment and every field is valid.
 */
const form = document.querySelector("#card");
const fields = [form.number, form.expiry, form.cvc];
const buttons = form.querySelectorAll("[data-card]");
const digits = (text) => text.replace(/\D/g, "");
let port;
let texts;

/** The groups of digits on a card. American Express has its own. */
const groupsOf = (number) => (/^3[47]/.test(number) ? [4, 6, 5] : [4, 4, 4, 4, 3]);

/** The least digits of a complete number: American Express has 15, Diners Club 14, and the others 16. */
const lengthOf = (number) => (/^3[47]/.test(number) ? 15 : /^3[0689]/.test(number) ? 14 : 16);

/** Luhn's checksum, which every card number has. */
const isValid = (number) => {
  const counted = [...number].reverse().map((digit, at) => (at % 2 ? [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][digit] : Number(digit)));
  return counted.reduce((sum, digit) => sum + digit) % 10 === 0;
};

/** How each field writes what is typed. */
const written = {
  number(text) {
    const rest = [...digits(text).slice(0, 19)];
    return groupsOf(digits(text)).map((size) => rest.splice(0, size).join("")).filter(Boolean).join(" ");
  },
  expiry(text) {
    const [month, year = ""] = text.includes("/") ? text.split("/").map(digits) : [digits(text).slice(0, 2), digits(text).slice(2)];
    const whole = month.length === 1 && (month > 1 || text.includes("/")) ? `0${month}` : month;
    return year || text.includes("/") ? `${whole} / ${year.length > 2 ? year.slice(2, 4) : year}` : whole;
  },
  cvc: (text) => digits(text).slice(0, 4),
};

/** What is wrong with each field: a code of Stripe, or nothing. */
const wrong = {
  number() {
    const number = digits(form.number.value);
    if (number.length < lengthOf(number)) return "incomplete_number";
    return isValid(number) ? "" : "invalid_number";
  },
  expiry() {
    const [month, year] = expiry();
    if (!month || form.expiry.value.length < "MM / YY".length) return "incomplete_expiry";
    if (month > 12) return "invalid_expiry_month";
    const now = new Date();
    if (year < now.getFullYear()) return "invalid_expiry_year_past";
    return year === now.getFullYear() && month < now.getMonth() + 1 ? "invalid_expiry_month_past" : "";
  },
  cvc: () => (form.cvc.value.length < (/^3[47]/.test(form.number.value) ? 4 : 3) ? "incomplete_cvc" : ""),
};

/** The month, and the year with its century. */
const expiry = () => {
  const [month, year] = form.expiry.value.split("/").map(Number);
  return [month, 2000 + year];
};

/** Shows what is wrong with a field, or that nothing is. */
const mark = (field, code) => {
  document.querySelector(`#${field.id}-error`).textContent = code ? texts[code] : "";
  field.setAttribute("aria-invalid", code !== "");
};

/** Tells the page whether the fields are empty or complete. */
const changed = () => {
  const number = digits(form.number.value);
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.card === number);
  port.postMessage({ change: { empty: fields.every(({ value }) => !value), complete: fields.every(({ id }) => !wrong[id]()) } });
};

/** Reformats a field, and leaves the caret behind the same digit. */
const rewrite = (field) => {
  const before = digits(field.value.slice(0, field.selectionStart)).length;
  const atEnd = field.selectionStart === field.value.length;
  field.value = written[field.id](field.value);
  if (atEnd) return;
  let caret = 0;
  for (let seen = 0; seen < before && caret < field.value.length; caret++) if (/\d/.test(field.value[caret])) seen++;
  field.setSelectionRange(caret, caret);
};

for (const field of fields) {
  field.addEventListener("input", ({ inputType }) => {
    if (!inputType?.startsWith("delete")) rewrite(field);
    mark(field, "");
    changed();
  });
  field.addEventListener("change", () => {
    field.value = written[field.id](field.value);
    if (field.value) mark(field, wrong[field.id]());
  });
}

for (const button of buttons) {
  button.dataset.last = button.dataset.card.slice(-4);
  button.addEventListener("click", () => {
    form.number.value = written.number(button.dataset.card);
    form.expiry.value = `12 / ${String(new Date().getFullYear() + 3).slice(2)}`;
    form.cvc.value = "123";
    for (const field of fields) mark(field, "");
    changed();
  });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  port.postMessage({ enter: true });
});

/** Returns the card as parameters of the API, or what is wrong with the first wrong field, which gets the focus. */
function card() {
  for (const field of fields) mark(field, wrong[field.id]());
  const first = fields.find(({ id }) => wrong[id]());
  if (first) {
    first.focus();
    const code = wrong[first.id]();
    return { invalid: { type: "validation_error", code, message: texts[code] } };
  }
  const [month, year] = expiry();
  return {
    card: {
      "payment_method_data[type]": "card",
      "payment_method_data[card][number]": digits(form.number.value),
      "payment_method_data[card][exp_month]": month,
      "payment_method_data[card][exp_year]": year,
      "payment_method_data[card][cvc]": form.cvc.value,
    },
  };
}

/** Starts with what the page sends with its port. */
function begin({ appearance: { theme = "stripe", variables = {} }, locale }) {
  const { dataset, style } = document.documentElement;
  dataset.theme = theme;
  for (const [name, value] of Object.entries(variables)) style.setProperty(`--${name}`, value);
  texts = translate(locale);
  const grow = () => port.postMessage({ height: Math.ceil(document.documentElement.getBoundingClientRect().height) });
  grow(); // an observer may wait until the frame is in view
  new ResizeObserver(grow).observe(document.documentElement);
}

addEventListener("message", ({ source, data, ports }) => {
  if (source !== parent || port || !ports[0]) return;
  port = ports[0];
  port.onmessage = ({ data: question, ports: [answer] }) => answer.postMessage(question === "card" ? card() : texts[question.explain]);
  begin(data);
});
parent.postMessage("element", "*"); // nothing secret, and the frame does not know its page
