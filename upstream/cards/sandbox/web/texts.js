/**
 * The texts of the sandbox's pages in the browser, by language. The names of errors are Stripe's codes. This and the pages'
 * scripts are no modules, which a frame with an origin of its own could not load.
 */
const words = {
  en: {
    number: "Card number",
    expiry: "Expiry date",
    expiryHint: "MM / YY",
    cvc: "Security code",
    cvcHint: "CVC",
    testCards: "Test cards: no real money",
    succeeds: "Succeeds",
    asks: "Bank asks first",
    declined: "Declined",
    funds: "Insufficient funds",
    incomplete_number: "Your card number is incomplete.",
    invalid_number: "Your card number is invalid.",
    incomplete_expiry: "Your card's expiration date is incomplete.",
    invalid_expiry_month: "Your card's expiration month is invalid.",
    invalid_expiry_month_past: "Your card's expiration date is in the past.",
    invalid_expiry_year_past: "Your card's expiration year is in the past.",
    incomplete_cvc: "Your card's security code is incomplete.",
    incorrect_number: "Your card number is incorrect.",
    card_declined: "Your card was declined.",
    generic_decline: "Your card was declined.",
    insufficient_funds: "Your card has insufficient funds.",
    expired_card: "Your card has expired.",
    test_mode_live_card: "Your card was declined. The sandbox takes test cards only.",
    payment_intent_authentication_failure: "Your bank did not confirm the payment. Try again, or use another card.",
    notice: "Sandbox: no real money",
    challenge: "Your bank asks you to confirm",
    challengeText: "A real bank would ask for a code or a fingerprint here. In the sandbox you decide how it ends.",
    approve: "Approve the payment",
    refuse: "Refuse",
    settled: "Nothing to confirm",
    settledText: "This payment does not wait for a confirmation.",
    missing: "No such payment",
    missingText: "The link may be incomplete, or the sandbox was restarted and lost its payments.",
    unreachable: "The sandbox cannot be reached. Try again.",
    back: "Go back",
  },
  fr: {
    number: "Numéro de carte",
    expiry: "Date d'expiration",
    expiryHint: "MM / AA",
    cvc: "Code de sécurité",
    cvcHint: "CVC",
    testCards: "Cartes de test : aucun argent réel",
    succeeds: "Acceptée",
    asks: "À confirmer",
    declined: "Refusée",
    funds: "Fonds insuffisants",
    incomplete_number: "Votre numéro de carte est incomplet.",
    invalid_number: "Votre numéro de carte n'est pas valide.",
    incomplete_expiry: "La date d'expiration de votre carte est incomplète.",
    invalid_expiry_month: "Le mois d'expiration de votre carte n'est pas valide.",
    invalid_expiry_month_past: "La date d'expiration de votre carte est dépassée.",
    invalid_expiry_year_past: "L'année d'expiration de votre carte est dépassée.",
    incomplete_cvc: "Le code de sécurité de votre carte est incomplet.",
    incorrect_number: "Votre numéro de carte est incorrect.",
    card_declined: "Votre carte a été refusée.",
    generic_decline: "Votre carte a été refusée.",
    insufficient_funds: "Votre carte ne dispose pas de fonds suffisants.",
    expired_card: "Votre carte a expiré.",
    test_mode_live_card: "Votre carte a été refusée. Le bac à sable n'accepte que les cartes de test.",
    payment_intent_authentication_failure: "Votre banque n'a pas confirmé le paiement. Réessayez ou utilisez une autre carte.",
    notice: "Bac à sable : aucun argent réel",
    challenge: "Votre banque vous demande de confirmer",
    challengeText: "Une vraie banque demanderait ici un code ou une empreinte. Dans le bac à sable, c'est vous qui décidez.",
    approve: "Approuver le paiement",
    refuse: "Refuser",
    settled: "Rien à confirmer",
    settledText: "Ce paiement n'attend aucune confirmation.",
    missing: "Ce paiement n'existe pas",
    missingText: "Le lien est peut-être incomplet, ou le bac à sable a redémarré et perdu ses paiements.",
    unreachable: "Le bac à sable est injoignable. Réessayez.",
    back: "Retour",
  },
};

/**
 * Puts the texts of a locale, such as "fr-FR" or "auto", in their places in the page, and returns them. Other languages
 * get English.
 */
function translate(locale) {
  const { language } = new Intl.Locale(locale === "auto" ? navigator.language : locale);
  const known = words[language] ? language : "en";
  document.documentElement.lang = known;
  for (const place of document.querySelectorAll("[data-text]")) place.textContent = words[known][place.dataset.text];
  for (const field of document.querySelectorAll("[data-placeholder]")) field.placeholder = words[known][field.dataset.placeholder];
  return words[known];
}
