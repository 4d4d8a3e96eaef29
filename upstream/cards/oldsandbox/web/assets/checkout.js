// The page works without this file. With it, a test card fills the field and
// waits for the buyer's click, digits stand in groups of four, and a second
// click on a button while its request is pending sends nothing.

const field = document.querySelector('#card');

function group(text) {
  return text.replace(/\D/g, '').slice(0, 19).replace(/(.{4})(?=.)/g, '$1 ');
}

// Grouping moves the caret only as far as the digits before it.
function regroup() {
  const digits = field.value.slice(0, field.selectionStart).replace(/\D/g, '').length;
  field.value = group(field.value);
  let caret = 0;
  for (let seen = 0; caret < field.value.length && seen < digits; caret++) {
    if (field.value[caret] !== ' ') seen++;
  }
  field.setSelectionRange(caret, caret);
}

function markChosen() {
  for (const card of document.querySelectorAll('[data-card]')) {
    card.classList.toggle('chosen', card.dataset.card === field.value);
  }
}

if (field) {
  field.addEventListener('input', () => { regroup(); markChosen(); });
  for (const card of document.querySelectorAll('[data-card]')) {
    card.addEventListener('click', (event) => {
      event.preventDefault();
      field.value = card.dataset.card;
      document.querySelector('#problem')?.remove();
      field.removeAttribute('aria-invalid');
      markChosen();
      document.querySelector('[data-action="pay"]').focus();
    });
  }
}

for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    if (form.getAttribute('aria-busy') === 'true') {
      event.preventDefault();
      return;
    }
    form.setAttribute('aria-busy', 'true');
  });
}

// A page that comes back from the browser's cache may show a form for a payment that is paid by now.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});
