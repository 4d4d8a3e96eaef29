// @ts-check
/**
 * Every text of the site, in French: the same as in text.en.js, which says what each is for. The spaces before a double
 * sign and inside quotation marks are written plainly here; `typeset` makes them those at which no line breaks.
 */

/** @type {Record<string, [one: string, many: string, every: string]>} */
const UNITS = {
  D: ["jour", "jours", "tous les"],
  W: ["semaine", "semaines", "toutes les"],
  M: ["mois", "mois", "tous les"],
  Y: ["an", "ans", "tous les"],
};

/**
 * @param {number} count
 * @param {string} unit D, W, M or Y
 */
const span = (count, unit) => `${count} ${UNITS[unit][count < 2 ? 0 : 1]}`;

/** @param {number} day of the month: 1er, 2, 3 */
const ordinal = (day) => (day === 1 ? "1er" : String(day));

/**
 * French spaces: narrow before ; ! ? and wide before : and inside « », never at the end of a line.
 * @param {string} words
 */
export const typeset = (words) =>
  words.replace(/ (?=[;!?])/g, "\u202f").replace(/ (?=[:»€])/g, "\u00a0").replace(/(?<=«) /g, "\u00a0");

/** @type {import("./text.js").Texts<typeof import("./text.en.js").default>} */
export default {
  secure: "Inscription sécurisée",
  languages: "Langue",
  footer: "Vos données de carte sont transmises uniquement au prestataire de paiement. Nous ne les voyons ni ne les conservons.",
  skip: "Aller au contenu",

  progress: {
    label: "Étapes de l’inscription",
    position: (at, of) => `Étape ${at} sur ${of}`,
    club: "Club",
    offer: "Offre",
    person: "Coordonnées",
    mandate: "Prélèvement",
    cart: "Récapitulatif",
    payment: "Paiement",
    finished: "terminé",
  },

  loading: "Chargement…",
  busy: "Un instant, s’il vous plaît…",
  waiting: "La connexion est lente ou interrompue. Nous réessayons – rien ne sera fait deux fois.",
  back: "Retour",
  retry: "Réessayer",
  cancel: "Annuler",

  units: {
    date: (formatted) => formatted.replace(/^1 /, "1er "),
    span,
    every: (count, unit) => (count === 1 ? `${UNITS[unit][2]} ${UNITS[unit][1]}` : `${UNITS[unit][2]} ${span(count, unit)}`),
    per: (count, unit) => (count === 1 ? `par ${UNITS[unit][0]}` : `pour ${span(count, unit)}`),
  },

  club: {
    heading: "Votre club. Dès aujourd’hui.",
    lead: "Choisissez un club et une offre, payez par carte : vous voilà membre, en quelques minutes.",
    points: ["Tous les prix, clairement, avant de payer", "Aucun papier à remplir", "Payé une fois, jamais deux"],
    list: "Choisissez votre club",
    search: "Chercher par nom ou par ville",
    none: "Aucun club ne porte ce nom. Essayez avec moins de lettres.",
    count: (count) => (count < 2 ? `${count} club` : `${count} clubs`),
  },

  resume: {
    open: "Vous avez une inscription en cours. Votre panier est conservé.",
    paying: "Un paiement est en cours ici. Avant de recommencer, voyez d’abord où il en est.",
    go: "Reprendre mon inscription",
  },

  elsewhere: {
    open: "Continuer sur un autre appareil",
    label: "Votre lien pour l’autre appareil",
    copy: "Copier le lien",
    copied: "Copié",
    lead: (moment) => `Il fonctionne une seule fois, jusqu’au ${moment}. Ne l’envoyez qu’à vous-même : quiconque l’ouvre poursuit votre inscription.`,
  },

  offer: {
    heading: "Choisissez ce qui vous convient",
    lead: (club) => `Tout ce que propose ${club}. Les prix s’entendent toutes taxes comprises.`,
    adding: "Ajouter à votre panier",
    another: "Changer de club",
    categories: "Type d’offre",
    category: {
      subscription: "Abonnements",
      test_session: "Séances d’essai",
      counter: "Carnets de séances",
      package: "Forfaits",
      subscription_option: "Options",
      badge: "Badges",
      countermark: "Bons",
      regular: "Boutique",
    },
    none: "Il n’y a rien à acheter ici pour le moment.",
    choose: "Choisir",
    chooseNamed: (name) => `Choisir ${name}`,
    free: "Gratuit",
    dueNow: "à payer aujourd’hui",
    dueToday: (/** @type {string} */ price) => `${price} à payer aujourd’hui`,
    dueIfToday: (/** @type {string} */ price) => `${price} à payer aujourd’hui si vous commencez aujourd’hui`,
    once: "en une fois",
    groups: { none: "Sans engagement", term: "Avec engagement", once: "Payé en une fois" },
    variants: (/** @type {string} */ name) => `Mode de paiement de ${name}`,
    onlineHeading: "En ligne, tout de suite",
    atClubHeading: "Au club",
    atClubLead: "Pour ces offres, parlez à l’équipe : passez au club ou appelez. Voici leurs prix.",
    atClub: "Inscription au club",
    atClubWhy: "Il y faut une information que nous ne pouvons pas demander ici ; l’équipe s’en occupe avec vous.",
    start: {
      heading: "Quand souhaitez-vous commencer ?",
      label: "Date de début",
      hint: "Aujourd’hui ou plus tard.",
      continue: "Continuer",
    },
  },

  terms: {
    then: "Ensuite",
    term: "Durée",
    part: "Dont",
    goesOn: (price, every) => `${price} ${every}`,
    instalments: "Échéances",
    total: "Au total",
    times: (times, price, every) => (times === 1 ? `${price}, une seule fois` : `${times} × ${price}, un paiement ${every}`),
    lasts: (sentence, span) => `${sentence} pendant ${span}`,
    firstToday: "La première échéance est comprise dans ce que vous payez aujourd’hui",
    untilCancelled: (sentence) => `${sentence}, jusqu’à résiliation`,
    debited: (sentence, every) => `${sentence}, prélevés ${every}`,
    nothingFollows: "Plus rien à payer",
    runsOn: (duration) => `${duration}, puis reconduction automatique`,
    fee: (price, name) => `${name ?? "Frais d’inscription"}, ${price}`,
    prorated: "La première échéance dépend de votre date de début ; vous verrez le montant exact avant de payer",
    starts: (date) => `À partir du ${date}`,
  },

  plan: {
    show: "Voir ce que vous payez, et quand",
    heading: "Ce que vous payez, et quand",
    list: "Ce que montreront vos relevés de compte",
    today: "Aujourd’hui",
    parts: {
      price: (price) => `${price} pour l’offre`,
      registration_fee: (price, name) => `${name ?? "frais d’inscription"} ${price}`,
      first_instalment: (price) => `première échéance ${price}`,
      prorata: (price) => `prorata des jours du premier mois ${price}`,
    },
    debit: "Prélèvement",
    coming: "Vos prochains prélèvements",
    separate: "Ce sont des paiements distincts, pas un double débit : ce que vous payez aujourd’hui ne sera pas prélevé une seconde fois.",
    forever: (price, every, on) => `Puis ${price} ${every}${on}, jusqu’à résiliation.`,
    onDay: (day) => (day > 28 ? `, le ${ordinal(day)} (ou le dernier jour du mois)` : `, le ${ordinal(day)}`),
    last: (count, price, day) =>
      count === 1 ? `Puis un dernier prélèvement de ${price} le ${day}.` : `Puis ${count} prélèvements de ${price} chacun, le dernier le ${day}.`,
    more: (count, price, day) =>
      count === 1 ? `Puis un prélèvement de ${price} le ${day}.` : `Puis ${count} prélèvements de ${price} chacun, jusqu’au ${day}.`,
    end: "C’est tout : rien d’autre ne suivra.",
    total: (price) => `${price} au total.`,
    all: (count) => (count < 2 ? "Le prélèvement" : `Les ${count} prélèvements`),
    estimated: "estimation",
    about: (price) => `environ ${price}`,
    unknown: "Nous ne pouvons pas indiquer ici les dates et montants des prélèvements. Demandez à l’équipe du club.",
    failed: "Impossible d’afficher pour le moment ce que vous paierez ensuite.",
    day: "Prélèvement le",
    firstDay: "Premier prélèvement le",
    dayOf: ordinal,
    close: "Fermer",
    join: "Choisir cette formule",
    rules: {
      months_as_weeks: "Prix à la semaine, prélèvement au mois : douze mois sont comptés pour 52 semaines.",
      rounded: "Les montants sont arrondis au centime.",
      remainder: "Le dernier prélèvement couvre ce qui reste de la durée.",
      debit_day_open: "Aucun jour de prélèvement n’est choisi ; le club peut en retenir un autre.",
      calendar_months: "Après le premier mois, le prélèvement suit les mois civils.",
      prorata_by_days: "Le premier mois est facturé au prorata des jours restants.",
    },
    otherRule: "Le système du club laisse ici un point ouvert ; pour en être sûr, demandez à l’équipe.",
  },

  person: {
    meant: (address) => `Vouliez-vous dire ${address} ?`,
    heading: "Faisons connaissance",
    correcting: "Corriger vos coordonnées",
    lead: "Le club en a besoin pour votre inscription. Tous les champs sont obligatoires, sauf mention contraire.",
    partly: "Remplissez seulement ce que vous voulez modifier. Le reste ne change pas.",
    unchanged: "Sans changement",
    unconfirmed: "Nous ne savons pas si vos coordonnées sont bien arrivées. Appuyez sur Continuer pour les renvoyer ; rien ne sera fait deux fois.",
    about: "Vous",
    reach: "Pour vous joindre",
    live: "Votre adresse",
    continue: "Continuer",
    save: "Enregistrer et continuer",
    privacy: "Vos coordonnées ne sont transmises qu’au club.",
    gone: "Cette offre n’est plus disponible. Choisissez-en une autre.",
    fields: {
      givenName: { label: "Prénom", error: "Saisissez votre prénom." },
      familyName: { label: "Nom", error: "Saisissez votre nom." },
      birthDate: { label: "Date de naissance", error: "Saisissez votre date de naissance." },
      gender: { label: "Genre (facultatif)", error: "Choisissez dans la liste, ou ne précisez rien." },
      email: { label: "Adresse e-mail", error: "Saisissez une adresse e-mail, comme nom@exemple.fr." },
      mobile: {
        label: "Téléphone mobile",
        hint: "Écrivez-le comme vous en avez l’habitude.",
        error: "Saisissez un numéro de mobile, comme +33 6 12 34 56 78.",
      },
      street: { label: "Numéro et rue", error: "Saisissez votre numéro et votre rue." },
      postalCode: { label: "Code postal", error: "Saisissez votre code postal." },
      city: { label: "Ville", error: "Saisissez votre ville." },
      country: { label: "Pays", error: "Choisissez votre pays." },
      startDate: { label: "Date de début", error: "Choisissez aujourd’hui ou une date ultérieure." },
    },
    gender: { "": "Je préfère ne pas le dire", female: "Femme", male: "Homme", other: "Autre" },
  },

  summary: {
    heading: "Votre choix",
    dueNow: "À payer aujourd’hui",
    amount: "Montant",
    then: (price, per) => ` aujourd’hui, puis ${price} ${per}`,
    change: "Modifier",
  },

  cart: {
    heading: "Vérification et paiement",
    headingFree: "Vérification et confirmation",
    headingMandate: "Votre commande",
    lead: "Vérifiez votre commande. Rien n’a encore été débité.",
    items: "Votre panier",
    added: "Obligatoire avec votre formule",
    included: "Compris dans le montant du jour",
    changesHeading: "Ce qui a changé",
    change: (name, price) =>
      `« ${name} » (${price}) accompagne une offre de votre panier et fait partie du montant à payer aujourd’hui.`,
    repriced: (name, was, price) =>
      `Le club a modifié le prix de « ${name} » : ${price} au lieu de ${was}.`,
    stale: "Le système du club est injoignable pour le moment. Voici votre panier tel que vous l’avez vu la dernière fois ; il sera revérifié avant tout paiement.",
    follows: "Après aujourd’hui",
    details: "Vos coordonnées",
    detailsKept: "Le club en dispose. Pour protéger votre vie privée, elles ne sont pas affichées ici. Vous pouvez corriger chacune d’elles.",
    edit: "Modifier",
    correct: "Modifier vos coordonnées",
    other: "Autres options",
    more: "Ajouter une autre offre",
    clear: "Choisir autre chose",
    remove: "Retirer",
    /** @param {string} name */
    removeItem: (name) => `Retirer ${name}`,
    dueNow: "À payer aujourd’hui",
    tax: "Toutes taxes comprises",
    kept: (moment) => `Nous gardons ce panier jusqu’au ${moment}.`,
    pay: (price) => `Payer ${price} par carte`,
    payNote: "Ensuite, vous saisissez votre carte auprès du prestataire de paiement. Rien n’est débité avant.",
    confirm: "Confirmer",
    confirmNote: "Il n’y a rien à payer.",
    later: {
      summary: "Payer plutôt au club",
      lead: "Inscrivez-vous maintenant et payez au club avant la date de votre choix.",
      dueDate: "Je paierai au plus tard le",
      go: "M’inscrire et payer plus tard",
    },
    paying: "Un instant…",
    invalid: "Ce panier ne peut pas être payé tel quel",
    invalidHelp: "Corrigez vos coordonnées, ou choisissez autre chose.",
    checkAgain: "Vérifier à nouveau",
    problems: {
      other: "Le club n’accepte pas ce panier. Choisissez une autre offre, ou demandez au club.",
      start_date_required: "L’une de ces offres demande une date de début. Choisissez-la à nouveau, avec une date.",
      mandate_required: "L’une de ces offres se paie par prélèvement : il faut d’abord le mettre en place.",
      person_incomplete: "Il manque au club certaines de vos coordonnées. Merci de les compléter.",
      debit_day_not_allowed: "Le club ne peut pas prélever le jour choisi. Choisissez l’offre à nouveau, avec un autre jour.",
      not_available: "L’une de ces offres n’est plus disponible. Choisissez-en une autre.",
      debt: "Il vous reste une somme à régler au club. Réglez-la d’abord, sur place.",
      not_accepted: "Le club n’accepte pas ce panier. Choisissez une autre offre, ou demandez au club.",
      cart_empty: "Votre panier est vide.",
      age_restricted: "L’une de ces offres ne correspond pas à votre âge. Vérifiez votre date de naissance, ou choisissez une autre offre.",
      settled: "Ce panier a déjà été réglé au club : il n’y a plus rien à payer. Si ce n’était pas vous, adressez-vous à l’équipe du club.",
    },
    notHere: "Ce panier ne peut pas être payé par carte en ligne. Terminez votre inscription au club : l’équipe voit votre panier.",
  },

  mandate: {
    heading: "Mettre en place le prélèvement",
    lead: "Les échéances suivantes sont prélevées sur votre compte. Confirmez votre mandat avec un code que nous envoyons sur votre téléphone.",
    due: "Les échéances suivantes sont prélevées sur votre compte. Mettez d’abord le prélèvement en place, puis payez par carte le montant du jour.",
    open: "Mettre en place le prélèvement",
    enter: "Saisir le code",
    account: "Le compte",
    fields: {
      holder: { label: "Titulaire du compte", hint: "Nom indiqué sur le compte. Il peut s’agir d’une autre personne.", error: "Indiquez le titulaire du compte." },
      iban: {
        label: "IBAN",
        hint: "Il figure sur votre RIB ou dans l’application de votre banque ; avec ou sans espaces.",
        empty: "Saisissez l’IBAN du compte.",
        wrong: "Cet IBAN n’est pas valide. Vérifiez votre saisie.",
      },
      bic: {
        label: "BIC (facultatif)",
        hint: "8 ou 11 caractères ; il figure sur votre RIB.",
        wrong: "Vérifiez le BIC : il compte 8 ou 11 caractères. Vous pouvez aussi le laisser vide.",
      },
    },
    consent: (club) =>
      `En saisissant le code, vous autorisez ${club} à prélever sur ce compte les sommes que vous lui devez. Vous pouvez demander à votre banque le remboursement d’un prélèvement dans les huit semaines.`,
    send: "M’envoyer le code",
    sending: "Envoi du code…",
    privacy: "Le numéro de compte n’est transmis qu’au club. Cet appareil n’en garde rien.",
    signed: (iban) => `Le prélèvement sur ${iban} est en place.`,
    code: {
      heading: "Saisissez le code",
      lead: (iban, ending) => `Nous avons envoyé un code par SMS sur votre mobile${ending && `, dont le numéro finit par ${ending}`}. Avec ce code, vous autorisez les prélèvements sur ${iban}.`,
      label: "Code reçu par SMS",
      error: "Saisissez le code tel qu’il figure dans le SMS : il n’a que des chiffres.",
      correct: "Corriger mon numéro de mobile",
      unreachable: { heading: "Votre téléphone est injoignable", lead: "Aucun SMS ne peut être envoyé à votre numéro de mobile. Corrigez-le dans vos coordonnées, puis mettez à nouveau le prélèvement en place." },
      left: (attempts) => (attempts < 2 ? `Encore ${attempts} essai` : `Encore ${attempts} essais`),
      sign: "Signer le mandat et autoriser les prélèvements",
      signing: "Signature…",
      resend: "Recevoir un nouveau code",
      resendIn: (seconds) => `Nouveau code dans ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`,
      cancel: "Utiliser un autre compte",
      mock: "Rien n’est réel ici et aucun SMS n’est envoyé : le code se trouve dans la boîte d’envoi du simulateur.",
      outbox: "Ouvrir la boîte d’envoi",
      states: {
        no_code: { heading: "Pas encore de code", lead: "Nous n’avons pas pu nous assurer de l’envoi d’un code. Si un SMS arrive tout de même, son code ne fonctionnera pas. Demandez-en un nouveau." },
        unconfirmed: { heading: "Vérification de votre signature…", lead: "Votre code a été transmis et n’est pas encore confirmé. Nous vérifions. Si cela dure, saisissez le même code à nouveau." },
        expired: { heading: "Ce code est trop ancien", lead: "Un code ne vaut que quelques minutes. Demandez-en un nouveau." },
        blocked: { heading: "Trop de codes erronés", lead: "Pour votre sécurité, ce code ne fonctionne plus. Demandez-en un nouveau." },
      },
    },
  },

  prospect: {
    open: "J’ai déjà un compte au club",
    heading: "Reprendre votre compte",
    lead: "Si un autre de nos clubs vous connaît déjà, votre compte remplace les coordonnées que vous avez saisies ici.",
    label: "Jeton d’accès de votre compte",
    hint: "Sur le site d’un club, il vient de la connexion au compte et personne ne le voit. Ici, c’est vous qui jouez la connexion.",
    mock: "Dans la simulation, le personnage « prospect » a un tel compte : copiez son accessToken dans la liste des personnages. Un jeton vaut une heure.",
    personas: "Ouvrir la liste des personnages",
    error: "Collez le jeton d’accès.",
    continue: "Reprendre mon compte",
    doing: "Reprise de votre compte…",
  },

  challenge: {
    heading: "Confirmez que vous êtes une personne",
    lead: "Cette vérification écarte les inscriptions automatiques. Rien de ce que vous avez saisi n’est perdu.",
    unavailable: "La vérification n’a pas pu être chargée. Vérifiez votre connexion ou votre bloqueur de publicité, puis réessayez.",
    cancel: "Annuler",
  },

  abandon: {
    open: "Annuler l’inscription",
    ask: "Annuler cette inscription ?",
    why: "Votre panier sera vidé et rien ne sera débité. Vous pourrez recommencer à tout moment.",
    yes: "Oui, annuler",
    no: "Non, la garder",
  },

  payment: {
    back: "Modifier le panier ou le moyen de paiement",
    requires_action: {
      heading: "Terminez votre paiement",
      lead: "Votre paiement vous attend sur la page du prestataire de paiement. Rien n’a été débité jusqu’ici. Votre panier reste tel quel tant que vous n’avez pas payé ou abandonné.",
      go: "Aller à la page de paiement",
      embedded: "Ce paiement ne peut pas être terminé sur cette page. Demandez à l’équipe du club.",
    },
    preparing: {
      heading: "Préparation de votre paiement…",
      lead: "Rien n’a été débité jusqu’ici. Si cela dure plus de quelques secondes, continuez vous-même.",
    },
    checking: {
      heading: "Vérification de votre paiement…",
      lead: "Un instant, s’il vous plaît.",
    },
    processing: {
      heading: "Confirmation de votre paiement…",
      lead: "Cela prend en général quelques secondes. Vous pouvez laisser cette page ouverte, la recharger ou la fermer : rien n’est perdu et rien n’est débité deux fois.",
    },
    recorded: {
      heading: "Payé. Nous terminons votre inscription…",
      lead: "Votre paiement est arrivé. Il ne reste que les dernières formalités, et nous nous en chargeons.",
    },
    declined: {
      heading: "Votre carte a été refusée",
      lead: "Rien n’a été débité. Vous pouvez réessayer avec la même carte ou avec une autre.",
      closed: "Rien n’a été débité.",
      reasons: {
        insufficient_funds: "La banque indique que la provision de cette carte est insuffisante.",
        expired_card: "La banque indique que cette carte a expiré.",
        incorrect_cvc: "Le cryptogramme était erroné.",
        card_declined: "Votre banque n’a donné aucun motif. Essayez une autre carte ou contactez votre banque.",
        authentication_failed: "La banque vous demandait de confirmer le paiement, et cela n’a pas eu lieu.",
        authentication_required: "La banque vous demandait de confirmer le paiement, et cela n’a pas eu lieu.",
      },
    },
    declinedTooOften: {
      heading: "Votre carte a été refusée trop de fois",
      lead: "Rien n’a été débité. Votre panier est toujours là : choisissez un autre moyen de paiement ou adressez-vous à l’équipe du club.",
      closed: "Rien n’a été débité. Adressez-vous à l’équipe du club.",
    },
    cancelled: {
      heading: "Le paiement a été annulé",
      lead: "Rien n’a été débité. Votre panier est toujours là : payez quand vous voulez.",
      closed: "Rien n’a été débité.",
    },
    in_doubt: {
      heading: "Payé – enregistrement en cours. Ne payez pas une seconde fois.",
      lead: "Votre paiement est passé. Le système du club n’a pas encore confirmé l’avoir enregistré : nous nous en assurons. Vous n’avez rien à faire.",
      points: [
        "Rien ne sera débité une seconde fois.",
        "Vous pouvez fermer cette page et y revenir à tout moment.",
        "Si cela dure, l’équipe du club règle la question pour vous.",
      ],
    },
    refunding: {
      heading: "Votre argent est en cours de remboursement",
      lead: "Le club n’a pas pu prendre votre paiement : la totalité du montant revient sur votre carte. Cela peut prendre quelques jours. Vous n’avez rien à faire et vous pouvez fermer cette page.",
    },
    refunded: {
      heading: "Votre argent vous a été rendu",
      lead: "L’inscription n’a pas pu aboutir : la totalité du montant revient sur votre carte. Les banques mettent quelques jours à l’afficher.",
    },
    again: (price) => `Réessayer – ${price}`,
  },

  settlement: {
    preparing: { heading: "Nous prévenons le club…", lead: "Rien n’est encore réglé. Si cela dure plus de quelques secondes, continuez vous-même." },
    processing: { heading: "Nous prévenons le club…", lead: "Cela prend en général quelques secondes. Vous pouvez laisser cette page ouverte, la recharger ou la fermer." },
    recorded: { heading: "C’est fait. Nous terminons votre inscription…", lead: "Il ne reste que les dernières formalités, et nous nous en chargeons." },
    cancelled: {
      heading: "Cela n’a pas fonctionné",
      lead: "Rien n’a été réglé. Votre panier est toujours là : réessayez, ou choisissez un autre moyen.",
      closed: "Rien n’a été réglé.",
    },
    in_doubt: {
      heading: "Enregistrement en cours. N’en faites pas plus.",
      lead: "Le système du club n’a pas encore confirmé avoir enregistré votre inscription : nous nous en assurons. Merci de ne pas payer ni vous inscrire à nouveau.",
      points: ["Vous pouvez fermer cette page et y revenir à tout moment.", "Si cela dure, l’équipe du club règle la question pour vous."],
    },
    again: "Réessayer",
  },

  done: {
    completed: {
      heading: "C’est fait : vous êtes inscrit.",
      settled: {
        card: "Bienvenue ! Votre paiement est enregistré, ainsi que tout ce que vous avez choisi. Au plaisir de vous voir.",
        later: "Bienvenue ! Votre inscription est faite ; vous réglez au club.",
        free: "Bienvenue ! C’est réservé, et il n’y a rien à payer. Au plaisir de vous voir.",
        desk: "Bienvenue ! Votre paiement au club est enregistré. Au plaisir de vous voir.",
      },
      owed: (price, day) => `Bienvenue ! Votre inscription est faite. Vous réglez ${price} au club, au plus tard le ${day}.`,
      chosen: "Votre offre",
      number: "Numéro de membre",
      customerNumber: "Votre numéro",
      paid: "Payé",
      next: "Et maintenant ?",
      points: [
        "Gardez votre numéro : il permet au club de vous retrouver.",
        "Présentez cette page à l’accueil lors de votre première visite.",
      ],
      print: "Imprimer cette page",
      another: "Inscrire une autre personne",
    },
    attention: {
      heading: "Nous nous en occupons",
      lead: "L’équipe du club termine votre inscription à la main. Vous n’avez plus rien à faire : ne payez pas une seconde fois et ne recommencez pas. Elle vous contactera.",
    },
    expired: {
      heading: "Cette inscription a expiré",
      lead: "Elle est restée ouverte trop longtemps, elle a donc été fermée.",
    },
    abandoned: {
      heading: "Vous avez abandonné cette inscription",
      lead: "Elle est fermée, et son panier est vide.",
    },
    missing: {
      heading: "Nous ne pouvons pas afficher cette inscription ici",
      lead: "Elle appartient au navigateur dans lequel elle a été commencée, ou elle a été supprimée au bout d’un certain temps. Si vous avez déjà payé, ne payez pas une seconde fois : votre inscription est en sécurité au club.",
    },
    uncharged: "Rien n’a été débité.",
    refunded: "La totalité du montant revient sur votre carte.",
    restart: "Commencer une nouvelle inscription",
    reference: (number) => `Référence : ${number}`,
  },

  entry: "Vérifiez cette saisie.",

  problems: {
    card_number_refused: "Ne saisissez jamais de numéro de carte ici. Vous saisirez votre carte plus tard, auprès du prestataire de paiement.",
    challenge_required: "Veuillez confirmer que vous êtes une personne, puis réessayez.",
    rate_limited: "Cela fait beaucoup en peu de temps. Patientez un instant, puis réessayez.",
    sms_paused: "Nous ne pouvons pas envoyer de codes pour le moment. Réessayez plus tard ou adressez-vous à l’équipe du club.",
    other: "Un problème est survenu de notre côté. Réessayez dans un instant.",
    offline: "Le service est injoignable. Vérifiez votre connexion et réessayez – rien ne sera fait deux fois.",
    invalid_request: "Certaines de vos saisies sont à revoir.",
    invitation_invalid: "Ce lien n’est pas valable : il a déjà servi, il est trop ancien, ou il n’est pas complet. Demandez-en un nouveau au club, ou inscrivez-vous ici comme nouveau membre.",
    resumption_invalid: "Ce lien n’est pas valable : il a déjà servi, il est trop ancien, ou il n’est pas complet. Créez-en un nouveau sur l’appareil où vous avez commencé, ou recommencez ici.",
    not_identified: "Vous n’êtes plus connecté. Connectez-vous à nouveau.",
    identity_unavailable: "La connexion du club est injoignable pour le moment. Réessayez bientôt.",
    contact_banned: "Le club ne peut pas vous vendre en ligne. Adressez-vous à son équipe.",
    other_club: "Ceci est réservé aux membres d’un autre club.",
    not_found: "Cela n’existe plus.",
    forbidden_origin: "Les réglages de votre navigateur empêchent cette page de fonctionner. Ouvrez-la dans une fenêtre normale.",
    key_in_use: "Votre dernier essai est encore en cours de traitement. Patientez un instant, puis réessayez.",
    conflict: "Quelque chose a changé au même moment. Voici où en sont les choses.",
    cart_frozen: "Un paiement est en cours : le panier ne peut plus changer.",
    cart_empty: "Votre panier est vide.",
    cart_invalid: "Le club n’accepte pas ce panier tel quel.",
    cart_changed: "Le club a modifié votre panier depuis que vous l’avez vu. Regardez-le à nouveau avant de payer.",
    mandate_required: "L’une de ces offres se paie par prélèvement : il faut d’abord le mettre en place.",
    mandate_signed: "Le prélèvement est déjà en place.",
    mandate_not_needed: "Rien dans votre panier ne se paie par prélèvement.",
    no_code: "Il n’y a pas de code utilisable. Demandez-en un nouveau.",
    code_wrong: "Ce code n’est pas le bon. Vérifiez le SMS et réessayez.",
    code_expired: "Ce code n’est plus utilisable. Demandez-en un nouveau.",
    code_blocked: "Trop de codes erronés : celui-ci ne fonctionne plus. Demandez-en un nouveau.",
    sms_limited: "Plusieurs codes vous ont déjà été envoyés. Patientez un peu avant d’en demander un autre.",
    mobile_unreachable: "Nous ne pouvons pas envoyer de SMS à votre numéro de mobile. Corrigez-le dans vos coordonnées.",
    access_token_refused: "Cela ne nous a pas permis d’ouvrir votre compte. Connectez-vous à nouveau à votre compte.",
    migration_club: "Votre compte appartient déjà à ce club, ou à un club d’une autre enseigne. Continuez sans lui, ou demandez au club.",
    migration_contact: "Seul un compte sans abonnement peut être repris. Demandez au club.",
    migration_not_shared: "Les deux clubs ne partagent pas vos coordonnées. Continuez sans votre compte, ou demandez au club.",
    person_known: "Le club a déjà vos coordonnées. C’est lui qui les modifie pour vous.",
    nothing_due: "Il n’y a rien à payer. Voici où en est votre panier.",
    amount_due: "Il y a maintenant un montant à payer. Voici où en est votre panier.",
    method_not_offered: "Le club ne vous propose pas cette façon de payer. Choisissez-en une autre, ou adressez-vous à son équipe.",
    payment_exists: "Un autre paiement est en cours. Voici où il en est.",
    person_required: "Commencez par saisir vos coordonnées.",
    registration_closed: "Cette inscription est déjà fermée. Voici où elle en est.",
    payment_under_way: "Un paiement est en cours : cela ne peut plus être annulé ici.",
    offer_not_available: "Cette offre ne vous est pas ouverte pour le moment. Choisissez-en une autre.",
    club_system_failed: "Le système du club n’a pas accepté cela. Réessayez dans un instant.",
    club_system_unavailable: "Le système du club est injoignable pour le moment. Réessayez bientôt.",
    processor_unavailable: "Le prestataire de paiement est injoignable pour le moment. Rien n’a été débité ; réessayez bientôt.",
    storage_unavailable: "Notre service fait une courte pause. Réessayez dans un instant.",
    overloaded: "Beaucoup de personnes s'inscrivent en ce moment. Réessayez dans quelques secondes.",
  },
  reference: (traceId) => `Si vous appelez le club à ce sujet, mentionnez : ${traceId}`,

  debit: {
    open: "Le club choisit le jour des prélèvements.",
    on: (day) => `Prélèvements le ${ordinal(day)}`,
    first: (day, every) => `Premier prélèvement le ${ordinal(day)}${every && `, puis ${every}`}`,
  },

  changes: {
    removed: (name, price) =>
      `« ${name} » (${price}) était dans votre panier la dernière fois, et le club l’en a retiré : vous ne le payez pas.`,
  },

  card: {
    label: "Coordonnées de la carte",
    lead: "Saisissez votre carte ci-dessous. Les champs sont ceux du prestataire de paiement : votre carte ne passe jamais par ce site. Rien n’a été débité jusqu’ici.",
    failed: "Cela n’a pas fonctionné. Réessayez ou prenez une autre carte : cela reste un seul paiement, et rien n’est débité deux fois.",
    unloaded: "Les champs du prestataire de paiement ne se sont pas chargés. Rien n’a été débité. Vérifiez votre connexion, et si quelque chose les bloque dans votre navigateur.",
  },

  login: {
    go: "Se connecter au club",
    byHand: "Le saisir à la main",
    empty: "Collez le jeton.",
    mock: "Rien n’est réel ici, et c’est vous qui jouez la connexion : copiez un jeton dans la liste des personnages.",
    account: "Vous êtes connecté à votre compte. Doit-il remplacer les coordonnées que vous avez saisies ici ?",
    other: "Non, utiliser un autre compte",
  },

  me: {
    open: "Déjà chez nous ? Voir vos informations, vos consentements et vos offres",
    heading: "Mon adhésion",
    number: "Numéro",
    club: "Votre club",
    is: "Statut",
    status: {
      customer: "Membre",
      prospect: "Prospect",
      former_customer: "Ancien membre",
      temp: "Inscription en cours",
      banned: "L’achat en ligne n’est pas disponible pour votre compte. Contactez votre club.",
    },
    tags: "Vos mentions",
    until: (day) => `jusqu’au ${day}`,
    debt: "Solde à régler",
    nothing: "Aucun",
    debtWhy: "Certaines offres vous seront de nouveau ouvertes une fois cette somme réglée. Réglez-la au club.",
    buy: (club) => `Vos offres chez ${club}`,
    own: (club) => `Ce que ${club} vous propose, à vos propres prix, toutes taxes comprises.`,
    consents: "Ce que le club peut vous envoyer",
    transfer: "Changer de club",
    leave: "Se déconnecter ici",
    login: { heading: "Connectez-vous à votre club", lead: "Votre numéro, vos consentements et un changement de club ne regardent que vous : la connexion du club doit donc dire qui vous êtes." },
    expired: { heading: "Vous avez été déconnecté", lead: "Pour votre sécurité, une connexion vaut dix minutes au plus. Connectez-vous à nouveau pour continuer ; rien n’est perdu." },
    refused: { heading: "La connexion n’a pas fonctionné", lead: "La connexion du club n’a pas été acceptée : nous ne savons donc pas qui vous êtes. Connectez-vous à nouveau." },
    left: { heading: "Vous êtes déconnecté", lead: "Cette page ne garde rien de vous." },
    byHand: { label: "Jeton d’identité", hint: "Sur le site d’un club, il vient de la connexion et personne ne le voit.", continue: "Se connecter", doing: "Connexion…" },
  },

  consents: {
    heading: "Ce que le club peut vous envoyer",
    lead: "Rien ne vous est envoyé que vous n’ayez autorisé, sauf ce que le club est tenu de vous dire. Vous pouvez changer d’avis à tout moment.",
    wording: "site-2026-11-fr",
    types: {
      news: { name: "Actualités", about: "La vie de votre club : cours, horaires, événements." },
      legal: { name: "Ce que vous devez savoir", about: "Par exemple les changements de votre contrat, et les paiements." },
      advertising: { name: "Offres du club", about: "De la publicité pour ce que vend le club." },
      partners: { name: "Offres de partenaires", about: "De la publicité d’entreprises avec lesquelles le club travaille." },
    },
    channels: { email: "E-mail", text_message: "SMS", postal_mail: "Courrier" },
    locked: "Obligatoire, ne peut donc pas être désactivé",
    unsaved: "Pas encore enregistré",
    answers: {
      changed: (allowed) => (allowed ? "Enregistré : autorisé" : "Enregistré : plus autorisé"),
      unchanged: (allowed) => (allowed ? "C’était déjà autorisé" : "Ce n’était pas autorisé"),
      unknown: () => "Le club ne connaît plus ce consentement",
      failed: () => "Non enregistré : le système du club ne l’a pas pris. Enregistrez à nouveau",
    },
    save: (count) => (count === 0 ? "Rien à enregistrer" : count === 1 ? "Enregistrer 1 changement" : `Enregistrer ${count} changements`),
    saving: "Enregistrement…",
    saved: "Votre choix est enregistré.",
    partly: (done, failed) =>
      `${failed === 1 ? "Un changement n’a pas été enregistré" : `${failed} changements n’ont pas été enregistrés`}${done ? `, ${done} ${done === 1 ? "l’a été" : "l’ont été"}` : ""}. Enregistrez à nouveau.`,
    kept: "Le club conserve ce que vous avez dit, et quand, pour que vous puissiez tous deux vous y reporter.",
    receipts: (count) => (count === 1 ? "Ce que vous avez dit auparavant" : `Ce que vous avez dit auparavant (${count})`),
    said: (type, channel, allowed) => `${type} par ${channel} : ${allowed ? "oui" : "non"}`,
    newcomer: "Le club ne vous envoie aucune publicité sans votre accord.",
    open: "Choisir ce qu’il peut envoyer",
  },

  transfer: {
    heading: "Changer de club",
    lead: "Vous restez vous-même : votre numéro et vos coordonnées vous suivent. Vous confirmez avec un code que nous envoyons sur votre téléphone.",
    list: "Vers quel club ?",
    send: "M’envoyer le code",
    codeLead: (club) => `Nous avons envoyé un code par SMS sur votre mobile. Avec ce code, vous passez à ${club}.`,
    go: "Changer de club",
    other: "Choisir un autre club",
    member: "Votre abonnement appartient à votre club. Demandez à son équipe : elle le transfère, avec tout ce que vous avez payé.",
    done: {
      heading: (club) => `Vous êtes maintenant à ${club}`,
      lead: "La connexion de votre club ne le sait pas encore. Connectez-vous à nouveau pour voir vos offres là-bas.",
    },
  },

  invitationUsed: "Ce lien a déjà servi. Vous avez commencé une inscription dans ce navigateur : continuez-la ci-dessous.",
  brought: "Votre compte est là : le club vous connaît et a vos coordonnées.",
  toClubs: "Voir tous les clubs",

  legal: {
    label: "Conditions et mentions",
    terms: "Conditions générales",
    privacy: "Protection des données",
    legal: "Mentions légales",
    tab: "(s’ouvre dans un nouvel onglet)",
    by: { pay: "En confirmant, vous acceptez les conditions du club :", sign: "En signant, vous acceptez les conditions du club :" },
  },
};
