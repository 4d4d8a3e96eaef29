// @ts-check
/**
 * Every text of the site, in English, in the order of the journey. Amounts and dates arrive formatted. The brand's name is
 * the title of index.html.
 */

/** @type {Record<string, [one: string, many: string]>} */
const UNITS = { D: ["day", "days"], W: ["week", "weeks"], M: ["month", "months"], Y: ["year", "years"] };

/**
 * @param {number} count
 * @param {string} unit D, W, M or Y
 */
const span = (count, unit) => `${count} ${UNITS[unit][count === 1 ? 0 : 1]}`;

/** @param {number} day of the month: 1st, 2nd, 3rd, 4th */
const ordinal = (day) => `${day}${(day > 3 && day < 21 ? undefined : ["th", "st", "nd", "rd"][day % 10]) ?? "th"}`;

export default {
  secure: "Secure sign-up",
  languages: "Language",
  footer: "Your card details go straight to our payment provider. We never see or store them.",
  skip: "Skip to the content",

  progress: {
    label: "Progress",
    /** Without `of` before the offer is chosen, which decides it. */
    position: (/** @type {number} */ at, /** @type {number | undefined} */ of) => (of ? `Step ${at} of ${of}` : `Step ${at}`),
    club: "Club",
    offer: "Offer",
    person: "Your details",
    mandate: "Direct debit",
    cart: "Review",
    payment: "Payment",
    confirmation: "Confirmation",
    finished: "done",
  },

  loading: "Loading…",
  busy: "One moment, please…",
  crowded: "Many people are signing up at the moment. Your sign-up will continue automatically; you do not need to type anything again.",
  crowdedPage: "Many people are signing up at the moment. This page will appear automatically.",
  waiting: "The connection is slow or lost. We will keep trying – nothing will be done twice.",
  back: "Back",
  retry: "Try again",
  cancel: "Cancel",

  units: {
    date: (/** @type {string} */ formatted) => formatted,
    span,
    every: (/** @type {number} */ count, /** @type {string} */ unit) =>
      count === 1 ? `every ${UNITS[unit][0]}` : `every ${span(count, unit)}`,
    per: (/** @type {number} */ count, /** @type {string} */ unit) =>
      count === 1 ? `per ${UNITS[unit][0]}` : `every ${span(count, unit)}`,
  },

  club: {
    heading: "Find your club.\nStart today.",
    lead: "Choose a club and an offer, pay by card, and you’re in. It takes a few minutes.",
    points: ["Every price in plain words, before you pay", "No paperwork", "Paid once, never twice"],
    list: "Choose your club",
    search: "Search by name or place",
    none: "No club has that name. Try fewer letters.",
    count: (/** @type {number} */ count) => (count === 1 ? "1 club" : `${count} clubs`),
  },

  resume: {
    open: "You have an unfinished sign-up.",
    declined: "You have an unfinished sign-up: your card was declined.",
    paying: "You have a payment in progress here. Please check it before you start again.",
    go: "Resume",
    ask: "Start another sign-up?",
    why: "You have a payment in progress here. If it is for the same person, check it first, so that you do not pay twice.",
    another: "Start another one",
    check: "Check my payment",
  },

  elsewhere: {
    open: "Continue on another device",
    label: "Your link for the other device",
    copy: "Copy the link",
    copied: "Copied",
    leave: "Log out on this device",
    leaveAsk: "Log out on this device?",
    leaveWhy: "For shared computers. This browser can then open your sign-up only with a link. If you want to continue it later, first make one with “Continue on another device”.",
    stay: "Stay logged in",
    lead: (/** @type {string} */ moment) => `It works once, until ${moment}. Send it only to yourself: anyone who opens it can continue your sign-up.`,
  },

  contact: { seller: (/** @type {string} */ trader) => `Sold by ${trader}` },

  offer: {
    heading: "Choose what suits you",
    lead: (/** @type {string} */ club) => `Everything that ${club} offers. Prices include all taxes.`,
    adding: "Add to your cart",
    replaces: "What you choose replaces everything in your cart.",
    linked: "Your offer",
    linkedLead: (/** @type {string} */ club) => `At ${club}. The price includes all taxes.`,
    all: "All offers",
    another: "Another club",
    categories: "Kind of offer",
    category: {
      subscription: "Memberships",
      test_session: "Trial sessions",
      counter: "Session packs",
      package: "Packages",
      subscription_option: "Extras",
      badge: "Badges",
      countermark: "Vouchers",
      regular: "Shop",
    },
    none: "There is nothing to buy here at the moment.",
    recommended: "Recommended",
    choose: "Choose",
    chooseNamed: (/** @type {string} */ name) => `Choose ${name}`,
    ages: {
      from: (/** @type {number} */ age) => `Ages ${age} and over`,
      upTo: (/** @type {number} */ age) => `Up to age ${age}`,
      between: (/** @type {number} */ from, /** @type {number} */ to) => `Ages ${from} to ${to}`,
    },
    startsBetween: (/** @type {string} */ earliest, /** @type {string} */ latest) => `Starts between ${earliest} and ${latest}`,
    free: "Free",
    dueNow: "due today",
    dueToday: (/** @type {string} */ price) => `${price} due today`,
    dueIfToday: (/** @type {string} */ price) => `${price} due today, if you start today`,
    once: "paid once",
    onlineHeading: "Available online",
    others: "More offers",
    groups: { none: "No commitment", term: "Fixed term", once: "Paid once" },
    variants: (/** @type {string} */ name) => `Billing options for ${name}`,
    start: {
      heading: "When would you like to start?",
      debits: "Choose your debit day",
      label: "Start date",
      hint: "Today or any later day.",
      continue: "Continue",
      save: "Save",
      latest: (/** @type {string} */ date) => `Choose a day up to ${date}.`,
    },
  },

  terms: {
    then: "Then",
    term: "Runs for",
    part: "Included today",
    goesOn: (/** @type {string} */ price, /** @type {string} */ every) => `${price} ${every}`,
    instalments: "Instalments",
    total: "Total",
    times: (/** @type {number} */ times, /** @type {string} */ price, /** @type {string} */ per) => (times === 1 ? `${price}, once` : `${times} × ${price}, one ${per}`),
    lasts: (/** @type {string} */ sentence, /** @type {string} */ span) => `${sentence} for ${span}`,
    firstToday: "The first instalment is part of what you pay today",
    untilCancelled: (/** @type {string} */ sentence) => `${sentence}, until you cancel`,
    debited: (/** @type {string} */ sentence, /** @type {string} */ every, /** @type {string} */ amount) => `${sentence}, debited ${every}${amount && ` (${amount})`}`,
    nothingFollows: "Nothing more to pay later",
    runsOn: (/** @type {string} */ duration) => `${duration}, then renews automatically`,
    fee: (/** @type {string} */ price, /** @type {string | undefined} */ name) => `${name ?? "Registration"}, ${price}`,
    prorated: "The first instalment depends on your start date; you see the exact amount before you pay",
    starts: (/** @type {string} */ date) => `Starts on ${date}`,
  },

  plan: {
    show: "See what you pay, and when",
    heading: "What you pay, and when",
    list: "What your bank statements will show",
    after: "After today",
    today: "Today",
    parts: {
      price: (/** @type {string} */ price) => `${price} for the offer`,
      registration_fee: (/** @type {string} */ price, /** @type {string | undefined} */ name) => `${name ?? "Registration"} ${price}`,
      first_instalment: (/** @type {string} */ price) => `first instalment ${price}`,
      prorata: (/** @type {string} */ price) => `part of the first month ${price}`,
      deducted: (/** @type {string} */ price) => `less ${price} for the days before you start`,
    },
    anotherPart: "more",
    debit: "Direct debit",
    coming: "Your next debits",
    separate: "These are separate payments, not a double charge: what you pay today is not collected again.",
    forever: (/** @type {string} */ price, /** @type {string} */ every, /** @type {string} */ on) => `Then ${price} ${every}${on}, until you cancel.`,
    onDay: (/** @type {number} */ day) => (day > 28 ? ` on the ${ordinal(day)} (or the month’s last day)` : ` on the ${ordinal(day)}`),
    last: (/** @type {number} */ count, /** @type {string} */ price, /** @type {string} */ day) =>
      count === 1 ? `Then one last debit of ${price} on ${day}.` : `Then ${count} debits of ${price} each, the last on ${day}.`,
    more: (/** @type {number} */ count, /** @type {string} */ price, /** @type {string} */ day) =>
      count === 1 ? `Then one debit of ${price} on ${day}.` : `Then ${count} debits of ${price} each, until ${day}.`,
    end: "That is all: there are no further debits.",
    total: (/** @type {string} */ price) => `${price} in total.`,
    all: (/** @type {number} */ count) => `All ${count} debits`,
    estimated: "estimated",
    about: (/** @type {string} */ price) => `about ${price}`,
    unknown: "We cannot show the dates and amounts of the debits here. Please ask the team at the club.",
    failed: "What you pay later cannot be shown right now.",
    day: "Debits on the",
    firstDay: "First debit on the",
    dayOf: ordinal,
    close: "Close",
    join: "Join with this plan",
    rules: {
      months_as_weeks: "Priced by the week and collected by the month: twelve months count as 52 weeks.",
      rounded: "Amounts are rounded to the cent.",
      remainder: "The last debit covers the rest of the term.",
      debit_day_open: "No debit day has been chosen: these dates assume the next one, and the club may choose another.",
      calendar_months: "After the first month, debits follow calendar months.",
      prorata_by_days: "The first month is charged by its remaining days.",
      start_assumed: "What the club adds is assumed to start with the offer that it belongs to.",
      price_differs: "Today’s price is not the usual one: later debits assume the usual price.",
    },
    otherRule: "The club’s system leaves a detail open here. Ask the team if you want to be sure.",
  },

  person: {
    meant: (/** @type {string} */ address) => `Did you mean ${address}?`,
    heading: "Tell us who you are",
    correcting: "Correct your details",
    lead: "The club needs these details to sign you up. All fields are required unless marked optional.",
    partly: "Fill in only what you want to change. Everything else stays as it is.",
    signsAgain: "You have already set up direct debit. If you change your details, you will need to sign the mandate again with a new code.",
    saved: (/** @type {string} */ known) => `Saved: ${known}`,
    unchanged: "No change",
    unconfirmed: "We do not know whether your details arrived. Press Continue to send them again; nothing is done twice.",
    about: "About you",
    reach: "How we reach you",
    live: "Where you live",
    continue: "Continue",
    save: "Save and continue",
    privacy: "Your details go to the club only.",
    age: (/** @type {string} */ ages) => `This offer is not for your age (${ages.charAt(0).toLowerCase()}${ages.slice(1)}). Check your date of birth, or choose another offer.`,
    gone: "This offer is not available any more. Please choose another one.",
    fields: {
      givenName: { label: "First name", error: "Enter your first name." },
      familyName: { label: "Last name", error: "Enter your last name." },
      birthDate: { label: "Date of birth", error: "Enter your date of birth.", future: "This date is in the future. Check the year.", past: "Check the year of birth." },
      gender: { label: "Gender (optional)", error: "Choose from the list, or leave it blank." },
      email: { label: "Email", error: "Enter an email address, such as name@example.com." },
      mobile: {
        label: "Mobile number",
        hint: "Your country’s usual way of writing it is fine.",
        error: "Enter a mobile number, such as +33 6 12 34 56 78.",
      },
      street: { label: "Street and number", error: "Enter your street and number." },
      postalCode: { label: "Postal code", empty: "Enter your postal code.", error: "Enter a valid postal code." },
      city: { label: "City", error: "Enter your city." },
      country: { label: "Country", error: "Choose your country." },
      startDate: { label: "Start date", error: "Choose today or a later day." },
    },
    gender: { "": "Prefer not to say", female: "Female", male: "Male", other: "Other" },
  },

  summary: {
    heading: "Your choice",
    dueNow: "Due today",
    amount: "Amount",
    after: (/** @type {string} */ price, /** @type {string} */ per) => `Then ${price} ${per}`,
    then: (/** @type {string} */ price, /** @type {string} */ per) => ` today, then ${price} ${per}`,
    change: "Change",
  },

  cart: {
    heading: "Review and pay",
    headingFree: "Review and confirm",
    headingOrder: "Your order",
    headingSettled: "Already settled at the club",
    lead: "Review your order. Nothing has been charged yet.",
    items: "Your cart",
    added: "Required with your plan",
    included: "Included with your plan",
    /** For the first month: `name` says which of its days are paid or deducted. */
    prorata: { name: (/** @type {string} */ month, /** @type {string} */ days) => `Part of ${month} (${days})`, why: "Your plan starts mid-month, so you pay only for these days." },
    deducted: { name: (/** @type {string} */ month, /** @type {string} */ days) => `Deducted for ${month} (${days})`, why: "Your plan starts mid-month, so you do not pay for these days." },
    changesHeading: "What has changed",
    repriced: (/** @type {string} */ name, /** @type {string} */ was, /** @type {string} */ price) =>
      `The club changed the price of ${name} from ${was} to ${price}.`,
    stale: "We cannot reach the club’s system right now. This is your cart as you last saw it; it is checked again before you pay.",
    follows: "Your payments",
    details: "Your details",
    edit: "Edit",
    /** @param {string} name */
    editItem: (name) => `Edit the start date or debit day of ${name}`,
    masked: "Partly hidden for your privacy.",
    correct: "Edit your details",
    other: "More",
    more: "Add another offer",
    instead: "Choose something else instead",
    remove: "Remove",
    /** @param {string} name */
    removeItem: (name) => `Remove ${name}`,
    dueNow: "Due today",
    tax: "All taxes included",
    taxOf: (/** @type {number} */ percent, /** @type {string} */ amount) => `Including ${amount} tax at ${percent}%`,
    kept: (/** @type {string} */ moment) => `We keep this cart until ${moment}.`,
    payNote: "Next, you enter your card details with the payment provider. Nothing is charged before that.",
    repeat: {
      heading: "Buy it a second time?",
      why: "In the last 24 hours you have bought this, or started to pay for it, perhaps in another window or on another device. Nothing is charged here unless you say yes.",
      no: "No, go back",
      yes: "Yes, back to my order",
    },
    confirmNote: "There is nothing to pay today.",
    later: {
      summary: "Pay at the club",
      lead: (/** @type {string} */ price) => `Join now and pay ${price} at the club.`,
      due: (/** @type {string} */ day) => `Due at the club by ${day}`,
      dueDate: "I will pay by",
      until: (/** @type {string} */ day) => `Any day up to ${day}.`,
      tooLate: "This day is too late. Choose an earlier one.",
      wrong: "This day is too early or too late. Choose another one.",
    },
    paying: "One moment…",
    invalid: "You cannot pay for this cart as it is",
    /** At the fields of an item that the club does not accept. */
    wrong: { startDate: "Please choose a start date that the club accepts.", debit: "Please choose a debit day that the club accepts." },
    checkAgain: "Check again",
    problems: {
      other: "The club does not accept this cart. Choose another offer, or ask the club.",
      start_date_required: "One of these offers needs a start date. Choose it again, with a date.",
      possible_duplicate_purchase: "You have just bought this.",
      mandate_required: "One of these offers is paid by direct debit, which has to be set up first.",
      person_incomplete: "The club needs more of your details. Please complete them.",
      debit_day_not_allowed: "The club cannot debit on the chosen day. Choose the offer again, with another day.",
      not_available: "One of these offers is not available any more. Please choose another one.",
      debt: "You have an unpaid balance with the club. Please settle it at the club first.",
      not_accepted: "The club does not accept this cart. Choose another offer, or ask the club.",
      cart_empty: "Your cart is empty.",
      age_restricted: "Your cart has an offer that is not for your age. Check your date of birth, or choose another offer.",
      settled: "This cart has already been settled at the club, so there is nothing more to pay. If that was not you, please ask the club’s staff.",
    },
    notForAge: "This offer is not for your age. Choose another one, or ask the club.",
    notHere: "You cannot pay for this cart by card online. Please finish your sign-up at the club: the team can see your cart.",
  },

  /** The essential terms, directly above the button that orders. */
  order: {
    heading: "Your order",
    /** The law wants these words, or words that are as clear: above all no "Confirm", and no amount while more payments follow. */
    buttons: { order_with_obligation_to_pay: "Order with obligation to pay", pay_now: "Pay now", free: "Sign up for free" },
    debits: (/** @type {number} */ count, /** @type {string} */ price, /** @type {string} */ first, /** @type {string} */ last) =>
      count === 1 ? `Then ${price} by direct debit on ${first}` : `Then ${count} direct debits of ${price} each, from ${first} to ${last}`,
    endless: (/** @type {string} */ price, /** @type {string} */ every, /** @type {string} */ on, /** @type {string} */ from) =>
      `Then ${price} by direct debit ${every}${on}, from ${from} until you cancel`,
    unknown: "More payments may follow. Their dates and amounts cannot be shown right now: please ask the team at the club before you order.",
    minimum: (/** @type {string} */ span) => `Minimum term: ${span}`,
    runs: (/** @type {string} */ span) => `Runs for ${span}`,
    withdrawal: {
      until: (/** @type {string} */ day) => `You can withdraw from the contract until ${day}.`,
      delivery: "You can withdraw from the contract within 14 days of delivery.",
      none: "There is no right of withdrawal.",
    },
    about: (/** @type {string} */ names, /** @type {string} */ words) => `${names}: ${words}`,
    personalised: (/** @type {string} */ names) => `Personalised price, set automatically from what the club knows about you: ${names}`,
    guarantee: {
      heading: "Legal guarantee",
      words: "Goods have a legal guarantee of conformity. For at least two years after delivery, the seller must repair or replace, free of charge, goods that are not as agreed, or else reduce the price or refund you.",
      more: "Your rights in the EU",
    },
  },

  mandate: {
    heading: "Set up direct debit",
    lead: (/** @type {string} */ ending) =>
      `Later payments are collected by direct debit. Confirm your mandate with a code sent to ${ending ? `your mobile number ending in ${ending}` : "your phone"}.`,
    due: "Later payments are collected by direct debit. Set it up first, then complete your order.",
    open: "Set up direct debit",
    enter: "Enter the code",
    account: "The account",
    first: (/** @type {string} */ date, /** @type {string} */ amount) => `First debit on ${date}: ${amount}`,
    fields: {
      holder: { label: "Account holder", hint: "Name on the bank account. It can be someone else’s.", error: "Enter the name on the account." },
      iban: {
        label: "IBAN",
        hint: "As your bank’s app or a statement shows it, with or without spaces.",
        empty: "Enter the IBAN of the account.",
        wrong: "This IBAN isn’t valid. Check it for typos.",
      },
      bic: { label: "BIC (optional)", hint: "8 or 11 characters; your bank’s app shows it.", error: "Check the BIC: it has 8 or 11 characters. You can also leave it out." },
    },
    consent: (/** @type {string} */ club) =>
      `By entering the code you allow ${club} to collect the amounts that you owe it from this account. You can ask your bank to refund a debit within eight weeks.`,
    send: "Send me the code",
    sending: "Sending the code…",
    privacy: "Only the club receives the account number. It is not kept on this device.",
    signed: (/** @type {string} */ iban) => `Direct debit from ${iban} is set up.`,
    code: {
      authorisation: "What you authorise",
      reference: (/** @type {string} */ reference) => `Mandate reference: ${reference}`,
      referenceLater: "The mandate reference follows with the confirmation.",
      heading: "Enter the code",
      lead: (/** @type {string} */ iban, /** @type {string} */ ending) => `We have sent an SMS with a code to your mobile phone${ending && `, whose number ends in ${ending}`}. Entering it authorises debits from ${iban}.`,
      label: "Code from the SMS",
      error: "Enter the digits of the code from the SMS.",
      correct: "Correct your mobile number",
      unreachable: { heading: "We cannot reach your phone", lead: "No SMS can be sent to your mobile number. Correct it in your details, then set up direct debit again." },
      left: (/** @type {number} */ attempts) => (attempts === 1 ? "One attempt left" : `${attempts} attempts left`),
      sign: "Sign mandate and authorise debits",
      signing: "Signing…",
      resend: "Send a new code",
      resendIn: (/** @type {number} */ seconds) =>
        `New code in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`,
      cancel: "Use another bank account",
      mock: "Nothing is real here, and no SMS is sent: the code is in the simulator’s outbox.",
      outbox: "Open the outbox",
      states: {
        no_code: { heading: "No code yet", lead: "We could not confirm that a code was sent. If an SMS still arrives, its code will not work. Ask for a new one." },
        unconfirmed: { heading: "Checking your signature…", lead: "Your code was passed on but is not confirmed yet. We are checking. If this takes too long, enter the same code again." },
        expired: { heading: "This code is too old", lead: "Codes work for a few minutes only. Ask for a new one." },
        blocked: { heading: "Too many wrong codes", lead: "For your safety, this code no longer works. Ask for a new one." },
      },
    },
  },

  prospect: {
    open: "I already have an account with one of your clubs",
    heading: "Use your existing account",
    lead: "If you already have an account with one of our clubs, it replaces the details that you entered here.",
    label: "Access token of your account",
    hint: "On a club’s own site this comes from its login, and visitors do not see it.",
    personas: "Open the list of personas",
    continue: "Use my account",
    doing: "Getting your account…",
  },

  challenge: {
    heading: "Please confirm that you are not a robot",
    lead: "This keeps automated sign-ups out. Nothing that you entered is lost.",
    unavailable: "The check did not load. Check your connection or your ad blocker, then try again, or join at the club.",
    cancel: "Cancel",
  },

  abandon: {
    open: "Cancel sign-up",
    ask: "Cancel this sign-up?",
    why: "Your cart is emptied and nothing is charged. You can start again at any time.",
    yes: "Yes, cancel",
    no: "No, keep it",
  },

  payment: {
    back: "Change your cart or how you pay",
    other: "Your payment",
    requires_action: {
      heading: "Finish your payment",
      lead: "Your payment is waiting for you on the payment provider’s page. Nothing has been charged so far. Your cart stays as it is until you pay or cancel.",
      go: "Go to the payment page",
      embedded: "This payment cannot be finished on this page. Please ask the team at the club.",
    },
    preparing: {
      heading: "Preparing your payment…",
      lead: "Nothing has been charged so far. If this takes longer than a few seconds, press “Try again”.",
    },
    checking: {
      heading: "Checking your payment…",
      lead: "One moment, please.",
    },
    processing: {
      heading: "Confirming your payment…",
      lead: "This usually takes a few seconds. You can leave this page open, reload it or close it: nothing is lost and nothing is charged twice.",
    },
    onHold: {
      heading: "Waiting for the club’s system",
      lead: "The amount is reserved on your card, and nothing has been charged. Confirming it can take up to an hour; if it does not work, the reservation ends and you pay nothing. You can close this page and come back. Please do not pay again.",
    },
    recorded: {
      heading: "Paid. Finishing your sign-up…",
      lead: "Your payment has arrived. We are taking care of the last formalities.",
    },
    declined: {
      heading: "Your card was declined",
      lead: "Nothing was charged. You can try again.",
      closed: "Nothing was charged.",
      reasons: {
        insufficient_funds: "The bank says that there are not enough funds on this card. Another card may work.",
        expired_card: "The bank says that this card has expired. Please use another one.",
        incorrect_cvc: "The security code was wrong.",
        generic_decline: "Your bank gave no reason. Try another card or contact your bank.",
        payment_intent_authentication_failure: "The bank asked you to confirm the payment, but it was not confirmed.",
        authentication_required: "The bank asked you to confirm the payment, but it was not confirmed.",
      },
    },
    declinedTooOften: {
      heading: "Your card was declined too many times",
      lead: "Nothing was charged. Your cart is still here: choose another way to pay, or ask the team at the club.",
      closed: "Nothing was charged. Please ask the team at the club.",
    },
    notConfirmed: {
      heading: "The club’s system did not confirm your payment",
      lead: "It was cancelled, and nothing was charged. Your cart is still here: pay later, or ask the team at the club.",
      closed: "It was cancelled, and nothing was charged. Please ask the team at the club.",
    },
    cancelled: {
      heading: "The payment was cancelled",
      lead: "Nothing was charged. Your cart is still here, and you can pay whenever you are ready.",
      closed: "Nothing was charged.",
    },
    in_doubt: {
      heading: "Paid – being recorded. Do not pay again.",
      lead: "Your payment has gone through. The club’s system has not confirmed it yet, and we are checking. There is nothing you need to do.",
      points: [
        "You will not be charged again.",
        "You can close this page; come back to it at any time.",
        "If it takes a while, the club’s staff will sort it out for you.",
      ],
    },
    refunding: {
      heading: "Your money is on its way back",
      lead: "The club could not accept your payment, so the full amount goes back to your card. This can take a few days. There is nothing for you to do, and you can close this page.",
    },
    refunded: {
      heading: "Your payment was refunded",
      lead: "The sign-up could not be completed, so the full amount goes back to your card. Banks can take a few days to show it.",
    },
  },

  /** Texts for a payment without a card. Where one is missing, the text for a card is used. */
  settlement: {
    preparing: { heading: "Notifying the club…", lead: "Nothing is settled yet. If this takes longer than a few seconds, press “Try again”." },
    processing: { heading: "Notifying the club…", lead: "This usually takes a few seconds. You can leave this page open, reload it or close it." },
    recorded: { heading: "Done. Finishing your sign-up…", lead: "We are taking care of the last formalities." },
    cancelled: {
      heading: "That did not work",
      lead: "Nothing was settled. Your cart is still here: try again, or choose another way.",
      closed: "Nothing was settled.",
    },
    in_doubt: {
      heading: "Being recorded. Please do not sign up again.",
      lead: "The club’s system has not confirmed your sign-up yet, and we are checking. Please do not pay or sign up again.",
      points: ["You can close this page; come back to it at any time.", "If it takes a while, the club’s staff will sort it out for you."],
    },
  },

  done: {
    completed: {
      heading: "You’re in!",
      /** By payment method. */
      settled: {
        card: "Welcome! Your payment and your order are confirmed. We look forward to seeing you.",
        later: "Welcome! You are signed up, and you pay at the club.",
        free: "Welcome! You are all set, and there is nothing to pay today. We look forward to seeing you.",
        desk: "Welcome! Your payment at the club is recorded. We look forward to seeing you.",
      },
      owed: (/** @type {string} */ price, /** @type {string} */ day) => `Welcome! You are signed up. You pay at the club by ${day}: ${price}.`,
      chosen: "Your offer",
      number: "Member number",
      customerNumber: "Your number",
      paid: "Paid",
      next: "What’s next",
      owe: (/** @type {string} */ price, /** @type {string} */ day) => `Pay ${price} at the club by ${day}.`,
      points: [
        "Keep your number: the club uses it to find you.",
        "Show this page at the front desk on your first visit.",
      ],
      confirmation: "Your confirmation, to print or save",
      print: "Print this page",
      another: "Sign up someone else",
    },
    attention: {
      heading: "We are looking into it",
      lead: "The club’s staff are completing your sign-up by hand. There is nothing more for you to do: please do not pay again and do not start over. They will contact you.",
    },
    expired: {
      heading: "This sign-up has expired",
      lead: "It was left open for too long, so it was closed.",
    },
    abandoned: {
      heading: "You cancelled this sign-up",
      lead: "It is closed, and its cart is empty.",
    },
    missing: {
      heading: "We cannot show this sign-up here",
      lead: "It belongs to the browser in which it was started, or it was removed after some time. If you have already paid, do not pay again: your membership is safe with the club.",
    },
    other: "Your sign-up",
    uncharged: "Nothing was charged.",
    refunded: "The full amount goes back to your card.",
    restart: "Start a new sign-up",
    reference: (/** @type {string} */ number) => `Reference: ${number}`,
  },

  /** For an entry without a text above. */
  entry: "Please check this entry.",

  /** For `invalid_request`, if there is only one such entry. */
  oneEntry: "One of your entries needs another look.",

  /** By the problem's code. A code without a text here gets the gateway’s own, or `other` if that is for developers. */
  problems: {
    other: "Something went wrong on our side. Please try again in a moment.",
    offline: "We cannot reach the service. Check your connection and try again – nothing will be done twice.",
    invalid_request: "Some of your entries need another look.",
    card_number_refused: "Please never type a card number here. You enter your card later, with the payment provider.",
    invitation_invalid: "This link is no longer valid. Ask the club for a new one, or sign up here as a new member.",
    resumption_invalid: "This link is no longer valid. Create a new one on the device where you started, or start again here.",
    not_identified: "You have been logged out. Please log in again.",
    identity_unavailable: "The club’s login is not reachable at the moment. Please try again soon.",
    contact_banned: "Online purchases are not available for your account. Please contact your club.",
    other_club: "Your account is at another club. Sign up at that club, or move to this one first.",
    not_found: "We cannot find this any more. It may have been changed or removed elsewhere: please reload the page.",
    forbidden_origin: "Your browser’s settings keep this page from working. Please open it in a normal window.",
    challenge_required: "Please confirm that you are not a robot, then try again.",
    rate_limited: "Too many requests in a short time. Please wait a moment, then try again.",
    key_in_use: "Your last attempt is still being processed. Wait a moment, then try again.",
    conflict: "Something changed at the same time. This is the current state.",
    item_required: "This goes with another item. Remove that one instead.",
    cart_frozen: "A payment is in progress, so the cart can no longer change.",
    cart_empty: "Your cart is empty.",
    cart_invalid: "The club does not accept this cart as it is.",
    cart_changed: "The club has changed your cart since you saw it. Please look at it again before you pay.",
      mandate_required: "One of these offers is paid by direct debit, which has to be set up first.",
    mandate_signed: "Direct debit is already set up.",
    mandate_not_needed: "Nothing in your cart is paid by direct debit.",
    no_code: "No code is active. Ask for a new one.",
    code_wrong: "That code is wrong. Check the SMS and try again.",
    code_expired: "That code no longer works. Ask for a new one.",
    code_blocked: "Too many wrong codes were entered. Ask for a new one.",
    sms_limited: "You have already been sent several codes. Please wait a little before you ask for another.",
    sms_paused: "We cannot send codes at the moment. Please try again later, or ask the club’s staff.",
    mobile_unreachable: "We cannot send an SMS to your mobile number. Please correct it in your details.",
    access_token_refused: "We could not access your account. Please log in again.",
    migration_club: "Your account already belongs to this club, or to a club of another chain. Continue without it, or ask the club.",
    migration_contact: "Only an account without a membership can be used here. Please ask the club.",
    migration_not_shared: "The two clubs do not share your details. Continue without your account, or ask the club.",
    person_known: "The club already has your details. Its team can change them for you.",
    nothing_due: "There is nothing to pay. This is your current cart.",
    amount_due: "There is an amount to pay now. This is your current cart.",
    method_not_offered: "The club does not offer you this way to pay. Please choose another one, or ask its staff.",
    payment_exists: "Another payment is in progress. This is its state.",
    person_required: "Please enter your details first.",
    registration_closed: "This sign-up is already closed. This is its current state.",
    payment_under_way: "A payment is in progress, so this can no longer be undone here.",
    offer_not_available: "This offer is not available to you at the moment. Please choose another one.",
    club_system_failed: "The club’s system did not respond as it should. Please try again in a moment.",
    club_system_unavailable: "The club’s system is not reachable at the moment. Please try again soon.",
    processor_unavailable: "The payment provider is not reachable at the moment. Nothing was charged; please try again soon.",
    storage_unavailable: "Our service is taking a short break. Please try again in a moment.",
    overloaded: "Many people are signing up at the moment. Please try again in a minute.",
  },
  reference: (/** @type {string} */ traceId) => `If you call the club about it, mention: ${traceId}`,

  debit: {
    open: "The club chooses the day of the debits.",
    on: (/** @type {number} */ day) => `Debits on the ${ordinal(day)}`,
    first: (/** @type {string} */ date, /** @type {string} */ every) => `First debit on ${date}${every && `, then ${every}`}`,
  },

  changes: {
    removed: (/** @type {string} */ name, /** @type {string} */ price) =>
      `“${name}” (${price}) was in your cart when you last looked. The club has removed it, so you do not pay for it.`,
  },

  /** The processor's own card fields on this page. */
  card: {
    label: "Card details",
    lead: "Enter your card below. The fields belong to the payment provider: your card never reaches this site. Nothing has been charged so far.",
    failed: "That did not work. Please try again or use another card: it is still one payment, and nothing is charged twice.",
    unloaded: "The payment provider’s fields did not load. Nothing has been charged. Check your connection, and whether something in your browser blocks them.",
  },

  login: {
    go: "Log in with your club account",
    byHand: "Enter it by hand",
    empty: "Paste the token.",
    mock: "Nothing is real here, and you act as the login: open the developer panel (“mock” at the edge of the page, or the key left of 1) and choose a person under “People”, or copy a token from the list of personas.",
    account: "You are logged in to your account. Should it replace the details that you entered here?",
    other: "No, use another account",
  },

  me: {
    open: "Already with us? See your details, consents and offers",
    heading: "My membership",
    number: "Number",
    club: "Your club",
    is: "Status",
    status: {
      customer: "Member",
      prospect: "Not a member yet",
      former_customer: "Former member",
      temp: "Sign-up in progress",
      banned: "Online purchases are not available for your account. Please contact your club.",
    },
    debt: "Balance",
    owed: (/** @type {string} */ price) => `${price} to pay`,
    debtWhy: "Some offers become available again once this is settled. Please settle it at the club.",
    buy: (/** @type {string} */ club) => `Offers for you at ${club}`,
    known: "You are logged in: the club already has your details.",
    asMember: "Continue with my account",
    own: (/** @type {string} */ club) => `What ${club} offers you, at your prices, including all taxes.`,
    consents: "What the club may send you",
    transfer: "Move to another club",
    leave: "Log out on this device",
    login: { heading: "Log in to your club", lead: "Log in to see your membership, change your consents or move to another club." },
    expired: { heading: "You have been logged out", lead: "For your safety, a login lasts ten minutes at most. Log in again to continue; nothing is lost." },
    refused: { heading: "That login did not work", lead: "The club’s login was not accepted, so we do not know who you are. Please log in again." },
    left: { heading: "You are logged out", lead: "This page keeps none of your data." },
    unfinished: { heading: "You are not fully logged out", lead: "Your login has ended, but we could not close your sign-ups in this browser yet. Keep this page open and try again in a minute." },
    byHand: { label: "Identity token", hint: "On a club’s own site this comes from its login, and visitors do not see it.", continue: "Log in", doing: "Logging in…" },
  },

  memberships: {
    since: "Member since",
    earliest: "You can leave at the earliest on",
    ends: "Cancelled, ends on",
    left: "Still debited until then",
    cancel: "Cancel this membership",
  },

  consents: {
    heading: "What the club may send you",
    lead: "The club sends you only what you allow, except what it must tell you. You can change your mind at any time.",
    /** The version of the consent text. It goes into the receipt, so change it with the text. */
    wording: "site-2026-11d-en",
    types: {
      news: { name: "News", about: "What happens at your club: classes, opening hours, events." },
      legal: { name: "What you need to know", about: "Changes to your contract, for example, and information about payments." },
      advertising: { name: "Offers from the club", about: "Advertising for what the club sells." },
      partners: { name: "Offers from partners", about: "Advertising from companies that the club works with." },
    },
    channels: { email: "Email", text_message: "SMS", postal_mail: "Post" },
    locked: "Mandatory, so it cannot be switched off",
    unsaved: "Not saved yet",
    answers: {
      changed: (/** @type {boolean} */ allowed) => (allowed ? "Saved: allowed" : "Saved: not allowed"),
      unchanged: (/** @type {boolean} */ allowed) => (allowed ? "It was allowed already" : "It was not allowed before"),
      unknown: () => "The club no longer has this consent",
      failed: () => "Not saved: the club’s system did not accept it. Save again",
    },
    save: (/** @type {number} */ count) => (count === 0 ? "Save" : count === 1 ? "Save 1 change" : `Save ${count} changes`),
    saving: "Saving…",
    saved: "Your choice is saved.",
    partly: (/** @type {number} */ done, /** @type {number} */ failed) =>
      `${failed === 1 ? "One change was" : `${failed} changes were`} not saved${done ? `, ${done} ${done === 1 ? "was" : "were"}` : ""}. Please save again.`,
    kept: "The club keeps a record of your choices and their dates, and shows it to you on request.",
    receipts: (/** @type {number} */ count) => (count === 1 ? "Your earlier choice" : `Your earlier choices (${count})`),
    said: (/** @type {string} */ type, /** @type {string} */ channel, /** @type {boolean} */ allowed) => `${type} (${channel}): ${allowed ? "yes" : "no"}`,
    offer: "Stay in touch (optional)",
    newcomer: "The club sends you no advertising unless you allow it. You can change your mind at any time.",
  },

  transfer: {
    heading: "Move to another club",
    lead: "Your number and your details move with you. You confirm it with a code that we send to your phone.",
    list: "Where to?",
    missing: "Choose a club.",
    send: "Send me the code",
    codeLead: (/** @type {string} */ club) => `We have sent an SMS with a code to your mobile phone. Entering it moves you to ${club}.`,
    go: "Move now",
    other: "Choose another club",
    member: "Your membership belongs to your club. Please ask its team to move it, with everything that you have paid.",
    done: {
      heading: (/** @type {string} */ club) => `Your club is now ${club}`,
      lead: "Log in again to see the offers of your new club.",
    },
  },

  invitationUsed: "This link has been used. You have started a sign-up in this browser: continue it below.",
  brought: "We are using your account: the club has your details.",
  toClubs: "See all clubs",
  codeSoon: "A code was sent less than a minute ago. Please wait a moment before you ask for another.",
  noClub: "We do not know this club. Choose one from the list.",

  statements: {
    label: "Your contract",
    membership: "Membership",
    online: (/** @type {string} */ day) => `When you confirm, the club’s system ends this membership on ${day}. This cannot be undone.`,
    withdrawal: {
      start: "Withdraw from contract here",
      confirm: "Confirm withdrawal",
      heading: "Withdraw from your contract",
      lead: "You need no account, and you do not have to give a reason.",
      repeated: "Your withdrawal, before you confirm it",
    },
    cancellation: {
      start: "Cancel contracts here",
      confirm: "Cancel now",
      heading: "Cancel your contract",
      lead: "You need no account. You get an acknowledgement at once, here and by email.",
      repeated: "Your cancellation, before you confirm it",
    },
    known: "You are logged in: what you leave empty, we take from what the club has.",
    fields: {
      name: { label: "Your name", error: "Enter your name." },
      email: { label: "Email address for the acknowledgement" },
      contract: { label: "Your contract", hint: "Your member number, or what you ordered and when. Leave it empty if you do not know." },
      reason: { label: "Your reason", error: "Enter your reason." },
      endDate: { label: "The contract is to end on", hint: "Leave it empty for the earliest possible day." },
      postalAddress: { label: "Your postal address (optional)" },
    },
    type: {
      label: "How do you cancel?",
      ordinary: { name: "With the notice of the contract", about: "You need not give a reason." },
      extraordinary: { name: "For good cause", about: "Something makes it impossible to continue, such as an illness or a move." },
    },
    earliest: "the earliest possible day",
    next: "Continue",
    stepsLeft: "Nothing is sent yet: you confirm it on the next page.",
    check: "Check it once more. It is sent when you press the button.",
    change: "Change it",
    mailed: (/** @type {string} */ email) => `We have also sent this to ${email}.`,
    print: "Print or save this page",
  },

  agreements: {
    accept: "By placing this order, you accept:",
    read: "Please read before you order:",
    other: "I agree to this document.",
    missing: "Tick the box, or choose a later start in your cart.",
    names: {
      terms: "Terms",
      privacy: "Privacy notice",
      withdrawal_information: "Right of withdrawal",
      early_start_request: "Request to start early",
    },
    boxes: {
      early_start_request: {
        label: "I want to start before the 14 days for withdrawal have passed.",
        why: "You can still withdraw. You then pay for the part that you have had, and the right ends once the service is complete.",
      },
    },
  },

  legal: {
    label: "Terms and notices",
    terms: "Terms",
    privacy: "Privacy notice",
    legal: "Legal notice",
    tab: "(opens in a new tab)",
    by: { pay: "By placing this order, you accept the club’s terms:", sign: "By signing, you accept the club’s terms:" },
  },
};
