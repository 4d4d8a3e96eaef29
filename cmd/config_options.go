package cmd

import (
	"frontdesk/upstream/captcha"
	"frontdesk/upstream/club"
)

// group is a part of the options under a heading of docs/reference/configuration.md.
type group struct {
	heading string
	options []option
}

// groups lists all options of the gateway. The variables of its trace exporter are those of OpenTelemetry; see
// collector.Variables.
func (cfg *Config) groups() []group {
	return []group{
		{"Mode, addresses and log", cfg.serverOptions()},
		{"Redis and what it holds", cfg.redisOptions()},
		{"Club system", cfg.clubOptions()},
		{"Differences of your club system", cfg.installationOptions()},
		{"Club events", cfg.eventOptions()},
		{"Card processor", cfg.cardOptions()},
		{"Staff, operators and the club's login", cfg.identityOptions()},
		{"Front ends and what they may do", cfg.frontEndOptions()},
		{"Limits and SMS", cfg.limitOptions()},
		{"Captcha", cfg.captchaOptions()},
		{"Mails", cfg.mailOptions()},
	}
}

// options are those of all groups.
func (cfg *Config) options() (all []option) {
	for _, group := range cfg.groups() {
		all = append(all, group.options...)
	}
	return all
}

func (cfg *Config) serverOptions() []option {
	return []option{
		{
			variable:     "FRONTDESK_MODE",
			value:        oneOf(&cfg.Mode, "mock", "test", "live"),
			defaultValue: "mock",
			help: "mock: everything is in this process, and nothing is real. test: the simulator and the sandbox are in another " +
				"process (frontdesk sim). live: the real club system, card processor and Redis.",
			setBy:   "Operators, and teams that test several gateways together.",
			without: "mock, which needs no other option.",
		},
		{
			variable:     "FRONTDESK_ADDR",
			value:        text(&cfg.Addr),
			defaultValue: ":8080",
			help:         "Address on which the gateway listens.",
			setBy:        "Developers whose port 8080 is taken.",
			without:      "Port 8080 of every interface.",
		},
		{
			variable:     "FRONTDESK_OPS_ADDR",
			value:        text(&cfg.OpsAddr),
			defaultValue: defaultOpsAddr,
			help: "Address on which the gateway serves operators: loopback, or a network that only operators reach, " +
				"because profiles need no token; off for none.",
			setBy: "Operators whose commands run on another machine.",
			without: "Operators reach the gateway from its own machine only. Outside live mode several gateways may share the default: " +
				"the first one serves.",
		},
		{
			variable: "FRONTDESK_METRICS_ADDR",
			value:    text(&cfg.MetricsAddr),
			help: "Address on which the gateway serves /metrics and nothing else, without authentication: loopback, " +
				"or a network that only Prometheus reaches; off for none.",
			setBy:   "Operators whose Prometheus runs on another machine.",
			without: defaultMetricsAddr + " in live mode; otherwise none, because FRONTDESK_OPS_ADDR serves /metrics too.",
		},
		{
			variable: "FRONTDESK_PUBLIC_URL",
			value:    text(&cfg.PublicURL),
			help:     "Address under which browsers reach the gateway. With https, cookies are __Host- and Secure.",
			setBy:    "Operators: live mode requires it. Developers whose browser is on another machine.",
			without: "http://localhost and the port. In mock mode the address under which the page was opened, also behind a proxy that sends " +
				"X-Forwarded-Host and X-Forwarded-Proto.",
		},
		{
			variable: "FRONTDESK_TRUSTED_PROXIES",
			value:    list(&cfg.TrustedProxies),
			help:     "Networks (CIDR) or addresses of the proxies whose X-Forwarded-For is trusted.",
			setBy:    "Operators with a proxy or a load balancer in front of the gateway.",
			without:  "All visitors behind the proxy count as one address and share its limits.",
		},
		{
			variable: "FRONTDESK_DRAIN_DELAY",
			value:    duration(&cfg.DrainDelay),
			help: "How long a stopping gateway keeps serving while /readyz returns 503, so that load balancers can take it " +
				"out of rotation.",
			setBy:   "Operators whose load balancer needs longer to notice, or much less.",
			without: "10s in live mode; otherwise the gateway stops at once.",
		},
		{
			variable:     "FRONTDESK_LOG_LEVEL",
			value:        word(&cfg.LogLevel),
			defaultValue: "info",
			help: "debug (also a line for every call and, outside live mode, for every request), info (in live mode with a line " +
				"for every request), warn or error.",
			setBy:   "Operators and developers who look for the cause of a problem.",
			without: "info.",
		},
	}
}

func (cfg *Config) redisOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_REDIS_URL",
			value:    text(&cfg.RedisURL),
			help: "Address of Redis: redis://, redis+sentinel:// or redis+cluster://; with TLS rediss://, rediss+sentinel:// or " +
				"rediss+cluster://. Live mode requires TLS, except for one server on loopback.",
			setBy:   "Operators: test and live mode require it.",
			without: "Mock mode embeds its own Redis.",
		},
		{
			variable: "FRONTDESK_STATE",
			value:    text(&cfg.State),
			help: "Folder that keeps the worlds of mock mode, each in a file: registrations, the club system, the card processor, mails and the " +
				"clock. It is made if it does not exist.",
			setBy:   "Front-end developers whose page should continue after a restart.",
			without: "Everything is gone when mock mode stops.",
		},
		{
			variable: "FRONTDESK_REDIS_WAIT",
			value:    number(&cfg.RedisWait),
			help: "Replicas of Redis that must acknowledge each write (WAIT); a write with fewer is refused. " +
				"Live mode then accepts appendfsync everysec.",
			setBy:   "Operators whose Redis fails over to a replica, or does not sync each write to disk.",
			without: "A write counts once the primary has it, and live mode requires appendfsync always.",
		},
		{
			variable: "FRONTDESK_REDIS_ASSUME_DURABLE",
			value:    yesNo(&cfg.RedisAssumeDurable),
			help: "Skip the durability check, for a provider that forbids CONFIG. " +
				"Use only if the provider guarantees appendonly yes and appendfsync always.",
			setBy:   "Operators of a managed Redis without CONFIG.",
			without: "Live mode does not start while it cannot read how Redis syncs its file.",
		},
		{
			variable: "FRONTDESK_SEAL_KEYS",
			value:    list(&cfg.SealKeys),
			help:     "Keys that encrypt what Redis holds: base64 of at least 32 bytes each, the current key first.",
			setBy:    "Operators: live mode requires it, and so does test mode unless FRONTDESK_SANDBOX_URL has the card processor.",
			without:  "A demo key, which is public.",
		},
		{
			variable: "FRONTDESK_FORGET_SEAL_KEYS",
			value:    list(&cfg.ForgetSealKeys),
			help:     "Ids of former seal keys, as frontdesk doctor shows them, whose records in Redis may stay unreadable.",
			setBy:    "Operators who have lost a seal key.",
			without:  "No gateway starts while Redis holds records of a key that FRONTDESK_SEAL_KEYS lacks.",
		},
		{
			variable:     "FRONTDESK_PROOFS_KEPT",
			value:        duration(&cfg.ProofsKept),
			defaultValue: "26280h",
			help: "How long the proofs of contracts are kept, in hours, such as 26280h for three years: confirmations, " +
				"what buyers agreed to, received withdrawals and cancellations.",
			setBy:   "Operators whose lawyer asks for another time.",
			without: "Three years, the usual period of limitation for claims of consumers.",
		},
	}
}

func (cfg *Config) clubOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_CLUB_URL",
			value:    text(&cfg.Club.BaseURL),
			help:     "Base address of the club system.",
			setBy:    "Operators: test and live mode require it.",
			without:  "Mock mode uses its simulator.",
		},
		{
			variable: "FRONTDESK_CLUB_TOKEN",
			value:    text(&cfg.ClubToken),
			help:     "Client token, which identifies your organisation at the club system.",
			setBy:    "Operators: live mode requires it, and the three credentials below.",
			without:  "The demo organisation.",
		},
		{
			variable: "FRONTDESK_CLUB_CLIENT_ID",
			value:    text(&cfg.Club.ClientID),
			help:     "OAuth client id at the club system.",
			setBy:    "Operators, as the club system's provider names it.",
			without:  "The demo organisation's.",
		},
		{
			variable: "FRONTDESK_CLUB_CLIENT_SECRET",
			value:    text(&cfg.Club.ClientSecret),
			help:     "OAuth client secret.",
			setBy:    "Operators, as the club system's provider names it.",
			without:  "The demo organisation's.",
		},
		{
			variable: "FRONTDESK_CLUB_GATEWAY_KEY",
			value:    text(&cfg.Club.GatewayKey),
			help:     "Key of the club system's API gateway.",
			setBy:    "Operators, as the club system's provider names it.",
			without:  "The demo organisation's.",
		},
		{
			variable: "FRONTDESK_CLUBS",
			value:    clubsOrNumber(&cfg.Catalogue.Clubs, &cfg.Clubs),
			help: "Data about the clubs that the club system lacks, as YAML or JSON. Set FRONTDESK_CLUBS_FILE to read it from a file, with the " +
				"documents below its folder (docs/how-to/describe-your-clubs.md). In mock mode, a number such as 300 generates so many clubs.",
			setBy:   "Operators who show photos, opening hours or a time zone of their clubs.",
			without: "Nothing is added to what the club system has. Outside live mode the demo organisation has the demo clubs' data.",
		},
		catalogueOption(&cfg.Catalogue),
	}
}

// installationOptions are for a club system that differs from its documentation.
func (cfg *Config) installationOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_CLUB_API",
			value:    list(&cfg.ClubAPI),
			help: "How your club system's API gateway is called, as name:value. key-header: header of the gateway key. token-path: path " +
				"of the token endpoint, below the base address. path-prefix: path between the base address and the client token, such as /api.",
			setBy:   "Operators whose club system is behind another API gateway than the documented one.",
			without: "key-header:x-gateway-api-key,token-path:/oauth/v2/token and no prefix. A part that is left out keeps its default.",
		},
		{
			variable:     "FRONTDESK_CLUB_CONTENT_TYPE",
			value:        oneOf(&cfg.Club.ContentType, "application/json", "application/ld+json"),
			defaultValue: "application/json",
			help:         "The Content-Type of what is sent to the club system. Some installations refuse writes of the other type with status 415.",
			setBy:        "Operators whose club system requires application/ld+json.",
			without:      "application/json.",
		},
		{
			variable:     "FRONTDESK_CLUB_SALE_STATE",
			value:        oneOf(&cfg.Club.SaleState, club.SaleStateMember, club.SaleStateInvoice, club.SaleStateCheck),
			defaultValue: club.SaleStateMember,
			help: "What shows that a sale is still open: state (the sale's state), invoice (an open sale has none) or check (the sale's " +
				"check alone). Use check only if the club system refuses the check of a settled sale; otherwise a buyer can pay again " +
				"for a sale that the desk has already settled.",
			setBy:   "Operators whose club system shows no state of a sale.",
			without: "state.",
		},
		{
			variable: "FRONTDESK_CLUB_SALE_WITHOUT_ARTICLES",
			value:    yesNo(&cfg.Club.SaleWithoutArticles),
			help:     "Accept sales that do not list their articles. A change to a cart that keeps its total then goes unnoticed.",
			setBy:    "Operators whose club system shows sales without articles.",
			without:  "No payment starts for a sale that lists no articles.",
		},
		{
			variable: "FRONTDESK_CLUB_LIMIT_HEADERS",
			value:    oneOf(&cfg.ClubLimitHeaders, "on", "off", ""),
			help: "on: a 429 with the limit headers of the club system's API gateway (X-Rate-Limit-, X-Quota-, X-Spike-Arrest-) means that " +
				"the call was not passed on; a payment is then recorded after the limit's reset. off: the payment is in doubt.",
			setBy:   "Operators whose provider confirms that such a call was not passed on.",
			without: "off in live mode, otherwise on.",
		},
		{
			variable: "FRONTDESK_CLUB_CONTACT_TOKENS",
			value:    oneOf(&cfg.ContactTokens, "on", "off", ""),
			help: "on: a person whom the club's login identifies brings an account along without an access token. The gateway requests it from " +
				"the club system, for the e-mail address of that contact (grant http://contactclientcredentials).",
			setBy:   "Operators to whose client the provider grants that, and whose login proves that an account is the person's own.",
			without: "off in live mode, otherwise on.",
		},
	}
}

func (cfg *Config) eventOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_WEBHOOK_SECRET",
			value:    list(&cfg.WebhookSecret),
			help: "Secrets in the path to which the club system sends its events: 16 to 128 letters, digits, hyphens and underscores; " +
				"at most two, the current one first.",
			setBy:   "Operators who have the club system send its events.",
			without: "None in live mode: changes made at the club are seen when the gateway polls. Otherwise " + demoWebhookSecret + ".",
		},
		{
			variable: "FRONTDESK_SUBSCRIBERS",
			value:    text(&cfg.Subscribers),
			help: "Subscribers to the club system's events and Frontdesk's own: a JSON array of objects with name, url, secret " +
				"and optionally events.",
			setBy:   "Operators who pass events on to a CRM or another system.",
			without: "No event is passed on.",
		},
	}
}

func (cfg *Config) cardOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_STRIPE_SECRET_KEY",
			value:    text(&cfg.Stripe.SecretKey),
			help:     "Secret or restricted key of the Stripe account; in test mode a test key.",
			setBy:    "Operators: live mode requires it, and the two below. Teams that test with a Stripe account.",
			without:  "The sandbox's, in mock mode and with FRONTDESK_SANDBOX_URL.",
		},
		{
			variable: "FRONTDESK_STRIPE_PUBLISHABLE_KEY",
			value:    text(&cfg.StripePublicKey),
			help:     "Publishable key of the same account, for the buyer's browser.",
			setBy:    "Operators and teams that set the secret key.",
			without:  "The sandbox's, as above.",
		},
		{
			variable: "FRONTDESK_STRIPE_WEBHOOK_SECRET",
			value:    list(&cfg.Stripe.WebhookSecrets),
			help: "Signing secrets of the webhook endpoints that lead to /v1/webhooks/card; at most two, the second while one " +
				"endpoint replaces another.",
			setBy:   "Operators and teams that set the secret key.",
			without: "The sandbox's, as above.",
		},
		{
			variable: "FRONTDESK_STRIPE_URL",
			value:    text(&cfg.Stripe.URL),
			help:     "Another address of Stripe's API. It has precedence over FRONTDESK_SANDBOX_URL.",
			setBy:    "Tests with a double of Stripe of their own.",
			without:  "Stripe's own address.",
		},
		{
			variable: "FRONTDESK_STRIPE_SCRIPT_URL",
			value:    text(&cfg.StripeScriptURL),
			help:     "Another address of Stripe's library for browsers.",
			setBy:    "Teams whose browsers reach the sandbox under another address than the gateway does, as in compose.yaml.",
			without:  "https://js.stripe.com/v3/, or /v3/ below FRONTDESK_STRIPE_URL or FRONTDESK_SANDBOX_URL.",
		},
		{
			variable: "FRONTDESK_SANDBOX_URL",
			value:    text(&cfg.SandboxURL),
			help:     "Address of the sandbox card processor of frontdesk sim, for test mode. Its keys are then the defaults of those above.",
			setBy:    "Teams that test several gateways together. Live mode refuses it.",
			without:  "Mock mode embeds its own; test mode requires the keys of a Stripe account.",
		},
		{
			variable: "FRONTDESK_SANDBOX_SEED",
			value:    positive(&cfg.SandboxSeed),
			help:     "Seed of the sandbox's ids in mock mode: the same calls in the same order then get the same ids.",
			setBy:    "Tests that compare whole responses.",
			without:  "A random one, which is logged.",
		},
	}
}

func (cfg *Config) identityOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_STAFF_KEYS",
			value:    list(&cfg.StaffKeys),
			help:     "Keys that authenticate a kiosk or the desk as staff, at least 16 characters each.",
			setBy:    "Operators of clubs whose staff sign people up.",
			without:  "No caller is staff in live mode. Otherwise " + demoStaffKey + ".",
		},
		{
			variable: "FRONTDESK_OPERATORS",
			value:    list(&cfg.Operators),
			help: "Operators, each as name:hash, where the hash is the SHA-256 of a token in hexadecimal; " +
				"frontdesk operators add prints an entry.",
			setBy:   "Operators: live mode requires one, unless FRONTDESK_OPS_ADDR is off.",
			without: "demo, with the token " + demoOperatorToken + ".",
		},
		{
			variable: "FRONTDESK_IDENTITY_JWKS_URL",
			value:    text(&cfg.Login.JWKSURL),
			help:     "Address where the club's login publishes its signing keys (JWKS).",
			setBy:    "Operators: live mode requires it or the secret below.",
			without:  "The simulator's login, unless the secret is set.",
		},
		{
			variable: "FRONTDESK_IDENTITY_SECRET",
			value:    text(&cfg.Login.Secret),
			help:     "Secret with which the club's login signs its tokens instead (HS256): at least 32 bytes.",
			setBy:    "Operators whose login publishes no keys.",
			without:  "Tokens are verified with the published keys.",
		},
		{
			variable: "FRONTDESK_IDENTITY_AUDIENCE",
			value:    text(&cfg.Login.Audience),
			help:     "Audience (aud) that the login's tokens must name.",
			setBy:    "Operators: live mode requires it.",
			without:  "Tokens of the login for other applications are accepted too.",
		},
		{
			variable: "FRONTDESK_IDENTITY_ISSUER",
			value:    text(&cfg.Login.Issuer),
			help:     "Issuer (iss) that the login's tokens must have.",
			setBy:    "Operators: live mode requires it.",
			without:  "Tokens of other issuers with the same keys are accepted too.",
		},
	}
}

func (cfg *Config) frontEndOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_ALLOWED_ORIGINS",
			value:    list(&cfg.AllowedOrigins),
			help: "Other origins of front ends, such as https://www.your-club. Apps with a web view may be listed: capacitor://localhost, " +
				"ionic://localhost. * alone allows any page on this machine; live mode refuses it.",
			setBy:   "Operators whose website is not served by the gateway.",
			without: "None in live mode: only the gateway's own pages call it. Otherwise *.",
		},
		{
			variable: "FRONTDESK_ALLOWED_HEADERS",
			value:    list(&cfg.AllowedHeaders),
			help: "Further request headers that pages of other origins may send. Those of the API and of common tracing libraries are " +
				"always allowed.",
			setBy:   "Operators whose website adds headers of its own to each request.",
			without: "None.",
		},
		{
			variable: "FRONTDESK_RETURN_SCHEMES",
			value:    list(&cfg.ReturnSchemes),
			help: "Schemes of apps to which the card page may return (returnUrl), such as com.example.club: reverse domain names in " +
				"lower case, or one word such as myapp. Pages and universal links need none; see FRONTDESK_ALLOWED_ORIGINS. * allows " +
				"every app's scheme; live mode refuses it.",
			setBy:   "Operators with an app that has a scheme of its own.",
			without: "None in live mode. Otherwise *.",
		},
		{
			variable: "FRONTDESK_METHODS",
			value:    list(&cfg.Methods),
			help: "Payment methods of each kind of buyer, joined by +. visitor, contact (identified by the club's login, an invitation or " +
				"their own account): card, later, free. staff: these and desk. later-days: how many days ahead a payment by later may " +
				"be due, from 1 to 366. Example: visitor:card+free,later-days:30.",
			setBy:   "Operators whose clubs do not take every method.",
			without: "All methods, and 90 days; in live mode visitor:card+free. A part that is left out keeps its default.",
		},
		{
			variable: "FRONTDESK_CART_REVISION",
			value:    oneOf(&cfg.CartRevision, "required", "optional", ""),
			help:     "Whether a payment must name the revision of the cart that the buyer saw: required or optional.",
			setBy:    "Developers whose scripts pay for carts without showing them; operators of a front end that does not send it yet.",
			without:  "required.",
		},
		{
			variable: "FRONTDESK_AGREEMENTS",
			value:    oneOf(&cfg.Agreements, "required", "optional", ""),
			help: "Whether a payment must say which of the club's documents the buyer agrees to: required or optional. Where it does, it is held " +
				"against the documents in both cases. required refuses to start with a club that lacks one.",
			setBy:   "Operators of a front end that does not send them yet; developers who want to test that theirs does.",
			without: "required in live mode, otherwise optional, with a warning in the log.",
		},
		{
			variable: "FRONTDESK_ASK_REPEATS",
			value:    list(&cfg.AskRepeats),
			help: "Organisations or worlds whose buyers are asked before they buy the same offer again within 24 hours: client tokens, " +
				"all or none. In mock mode, a world can also ask for it with its setting askRepeats.",
			setBy:   "Operators of clubs whose visitors often buy the same again, such as day passes.",
			without: "all in live mode, otherwise none.",
		},
	}
}

func (cfg *Config) limitOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_RATE_LIMITS",
			value:    oneOf(&cfg.RateLimits, "on", "off", ""),
			help:     "on: apply the request limits. off: no limits; live mode does not start.",
			setBy:    "Developers who try how a front end handles limits.",
			without:  "on in live mode, otherwise off.",
		},
		{
			variable:     "FRONTDESK_SMS_HOURLY",
			value:        number(&cfg.SMS.Hourly),
			defaultValue: "100",
			help: "Maximum number of SMS codes per hour for the visitors of one club, while rate limits are on. " +
				"In 24 hours they get at most four times as many.",
			setBy:   "Operators of a club that runs a campaign.",
			without: "100: more than a club signs up in an hour, and few enough that an attack stays cheap.",
		},
		{
			variable: "FRONTDESK_SMS_ORGANISATION_HOURLY",
			value:    number(&cfg.SMS.OrganisationHourly),
			help: "Maximum number of SMS codes per hour for the visitors of all clubs together. " +
				"In 24 hours they get at most four times as many.",
			setBy:   "Operators of a chain with dozens of clubs.",
			without: "Five times a club's.",
		},
		{
			variable: "FRONTDESK_SMS_COUNTRIES",
			value:    list(&cfg.SMS.Countries),
			help:     "Countries whose mobile numbers can receive visitors' codes, such as FR,BE.",
			setBy:    "Operators of clubs near a border.",
			without:  "Only the country of the club.",
		},
	}
}

func (cfg *Config) captchaOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_CAPTCHA_URL",
			value:    text(&cfg.Captcha.URL),
			help: "Address that verifies captcha responses: the siteverify address of hCaptcha, Turnstile, reCAPTCHA or a " +
				"compatible service.",
			setBy:   "Operators whose clubs are attacked by robots.",
			without: "Visitors solve no captcha.",
		},
		{
			variable: "FRONTDESK_CAPTCHA_SECRET",
			value:    text(&cfg.Captcha.Secret),
			help:     "Secret of the captcha service.",
			setBy:    "Operators who set FRONTDESK_CAPTCHA_URL, which requires it.",
			without:  "No captcha can be verified.",
		},
		{
			variable: "FRONTDESK_CAPTCHA_SITE_KEY",
			value:    text(&cfg.Captcha.Widget.SiteKey),
			help:     "Public key with which a page shows the captcha. GET /v1/config returns it to front ends.",
			setBy:    "Operators who set FRONTDESK_CAPTCHA_URL: live mode requires it.",
			without:  "The page must have the key built in.",
		},
		{
			variable: "FRONTDESK_CAPTCHA_PROVIDER",
			value:    oneOf(&cfg.Captcha.Widget.Provider, captcha.HCaptcha, captcha.ReCAPTCHA, captcha.Turnstile, ""),
			help:     "Provider of the captcha that the signup site shows: hcaptcha, recaptcha or turnstile.",
			setBy:    "Operators whose gateway reaches the provider through another host, such as a proxy for outgoing calls.",
			without:  "The provider at the host of FRONTDESK_CAPTCHA_URL.",
		},
	}
}

func (cfg *Config) mailOptions() []option {
	return []option{
		{
			variable: "FRONTDESK_SMTP_URL",
			value:    text(&cfg.Mail.URL),
			help: "Mail server (SMTP): smtp:// for STARTTLS, or smtps:// for TLS from the first byte, with user and password where it needs " +
				"them, such as smtps://user:password@mail.example. Live mode sends nothing without TLS.",
			setBy:   "Operators: confirmations and acknowledgements go out by mail. Developers who want to see mails in a mail program.",
			without: "No mail is sent. Mock mode shows mails in the simulator's mailbox.",
		},
		{
			variable: "FRONTDESK_MAIL_FROM",
			value:    text(&cfg.Mail.From),
			help: "Sender of mails: an address of a domain whose SPF and DKIM records include the mail server, with a name if you like, such as " +
				"Club <signup@club.example>.",
			setBy:   "Operators who set FRONTDESK_SMTP_URL, which requires it.",
			without: "Mock mode has a sender of its own.",
		},
	}
}
