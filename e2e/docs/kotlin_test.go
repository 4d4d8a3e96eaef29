package docs_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/upstream/cards/sandbox"
)

// appGateway is a gateway that an app uses, with the buyer's access to its card processor.
type appGateway struct {
	*frontdesktest.Client
	confirm  func(payment api.Payment, card string)
	payments func() int // how many the processor holds
}

// appLink is the tests' link to the app; the example's own is replaced by it.
const appLink = "https://app.gym-4711.fr"

// appGateways starts a gateway by its mode.
var appGateways = map[string]func(t *testing.T) appGateway{
	"mock": func(t *testing.T) appGateway {
		c := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
		return appGateway{c, c.Confirm, func() int { return len(c.ProcessorPayments()) }}
	},
	"live": func(t *testing.T) appGateway {
		live := frontdesktest.NewLive(t)
		live.Env["FRONTDESK_ALLOWED_ORIGINS"] = appLink
		gateway, client := live.Start(t)
		live.Processor.SetWebhooks(sandbox.Normal, gateway.URL+"/v1/webhooks/card")
		client.URL = gateway.URL // Java does not trust the certificate of live.Front
		confirm := func(payment api.Payment, card string) {
			_, err := live.Processor.Confirm(frontdesktest.PaymentID(payment), card)
			frontdesktest.Must(t, err)
		}
		return appGateway{client, confirm, func() int { return len(live.Processor.Payments()) }}
	},
}

// TestKotlinApp compiles the file for Android, and signs up with it. The compiler and coroutines are Kotlin's own;
// the folder kotlin has stand-ins for Android, OkHttp and kotlinx.serialization.
func TestKotlinApp(t *testing.T) {
	t.Parallel()
	classes := compileKotlin(t)
	journeys := map[string]func(*testing.T, string, appGateway){
		"card": testAppPaysByCard, "direct debit": testAppSignsMandate, "killed": testAppIsKilled,
		"foreign responses": testAppGetsForeignResponses, "another phone": testAppMovesToAnotherPhone,
		"later gateway": testAppMeetsLaterGateway, "catalogue": testAppShowsCatalogue, "consents": testAppChoosesConsents,
	}
	for mode, start := range appGateways {
		for name, journey := range journeys {
			t.Run(mode+" "+name, func(t *testing.T) {
				t.Parallel()
				journey(t, classes, start(t))
			})
		}
	}
}

// testAppPaysByCard goes from the catalogue to the recorded payment, with a declined card on the way.
func testAppPaysByCard(t *testing.T, classes string, gateway appGateway) {
	phone := newPhone(t, classes, t.TempDir(), gateway.URL)
	due := phone.chooseAndStart()
	phone.tap("appear")
	shown := phone.tap("pay").Shown
	if card := phone.payment(gateway).Card; shown == "" || shown != frontdesktest.Value(card.RedirectUrl) {
		t.Fatalf("the browser shows %q instead of %q", shown, frontdesktest.Value(card.RedirectUrl))
	}
	page := gateway.Do("GET", shown, nil, [2]string{"Accept", "text/html"})
	if page.Status != http.StatusOK || !strings.Contains(string(page.Body), appLink+"/?registration="+phone.screen.Session.ID) {
		t.Errorf("the card page, with the way back to the app, is %d %s", page.Status, page.Body)
	}
	gateway.confirm(phone.payment(gateway), frontdesktest.DeclinedCard)
	declined := phone.tap("await", "declined").Registration
	if declined.Payment.Card.DeclineCode == "" || !strings.HasPrefix(declined.Message.Text, "Votre carte") {
		t.Errorf("the app does not say in the phone's language why the card was declined: %+v", declined)
	}
	if again := phone.tap("page").Shown; again != shown {
		t.Errorf("after the decline the browser shows %q instead of %q", again, shown)
	}
	gateway.confirm(phone.payment(gateway), frontdesktest.ApprovedCard)
	phone.tap("await", "done")
	gateway.Records().ExpectOnePayment(t, due)

	frontdesktest.Must(t, os.Remove(filepath.Join(phone.folder, "frontdesk.key")))
	if s := phone.restart().tap("open"); s.Session != nil || s.Registration != nil || s.Problem != nil {
		t.Errorf("from a backup, without the key store's key, the app shows %+v", s)
	}
}

// testAppSignsMandate signs the mandate of a direct debit, with a wrong code first, and pays the first instalment.
func testAppSignsMandate(t *testing.T, classes string, gateway appGateway) {
	phone := newPhone(t, classes, t.TempDir(), gateway.URL)
	days := phone.tap("days", frontdesktest.Day(1)).Days
	if len(days) < 2 || days[0].Date < frontdesktest.Day(1) || days[1].Date <= days[0].Date {
		t.Fatalf("the app offers the debit days %+v", days)
	}
	day := days[1].Day // not the next one, which the club would choose
	s := phone.tap("start", frontdesktest.DirectDebit, frontdesktest.Day(1), strconv.Itoa(day))
	due := s.Registration.Cart.DueNow.Amount
	gateway.Token = s.Session.Token
	if items := gateway.Registration(s.Session.ID).Cart.Items; items[0].Debit == nil || frontdesktest.Value(items[0].Debit.Day) != day {
		t.Errorf("the app chose day %d, and the cart has %+v", day, items)
	}
	if s := phone.tap("mandate", "FR1420041010050500013M02606"); s.Registration.Mandate.State != "awaiting_code" {
		t.Fatalf("after the mandate the app shows %+v", s.Registration)
	}
	code := gateway.LatestCode()
	if s := phone.tap("sign", frontdesktest.WrongCode(code)); s.Problem.Code != "code_wrong" || s.Registration.Mandate.AttemptsLeft != 4 {
		t.Errorf("after a wrong code the app shows %+v and %+v", s.Problem, s.Registration.Mandate)
	}
	if s := phone.tap("sign", code); s.Problem != nil || s.Registration.Mandate.State != "signed" {
		t.Fatalf("after the code the app shows %+v and %+v", s.Problem, s.Registration.Mandate)
	}
	phone.tap("pay")
	gateway.confirm(phone.payment(gateway), frontdesktest.ApprovedCard)
	phone.tap("appear")
	phone.tap("await", "done")
	gateway.Records().ExpectOnePayment(t, due)
}

// testAppIsKilled kills the app twice while a request has had its effect and no response has arrived. It continues
// each time, and nothing happens twice.
func testAppIsKilled(t *testing.T, classes string, gateway appGateway) {
	network := newAppNetwork(t, gateway.URL)
	phone := newPhone(t, classes, t.TempDir(), network.url)
	kill := func(http.ResponseWriter) {
		phone.kill()
		panic(http.ErrAbortHandler)
	}
	offer := phone.choose()
	network.replaceNextResponse(kill)
	phone.die("start", offer, frontdesktest.Day(1))
	screen := phone.restart().tap("open")
	if screen.Registration == nil || !screen.Registration.Cart.Valid {
		t.Fatalf("after the first kill the app shows %+v", screen)
	}
	network.replaceNextResponse(kill)
	phone.die("pay")
	phone.restart().tap("open")
	if shown := phone.tap("page").Shown; shown != frontdesktest.Value(phone.payment(gateway).Card.RedirectUrl) {
		t.Errorf("after the second kill the browser shows %q", shown)
	}
	gateway.confirm(phone.payment(gateway), frontdesktest.ApprovedCard)
	phone.tap("appear")
	phone.tap("await", "done")
	expectOneOfEach(t, gateway, screen.Registration.Cart.DueNow.Amount)
}

// testAppGetsForeignResponses replaces the responses to two requests that had their effect, by a refusal and by a
// proxy's page. The buyer's next tap repeats the first request and the app itself the second, each under its key.
func testAppGetsForeignResponses(t *testing.T, classes string, gateway appGateway) {
	network := newAppNetwork(t, gateway.URL)
	phone := newPhone(t, classes, t.TempDir(), network.url)
	offer := phone.choose()
	network.replaceNextResponse(func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusServiceUnavailable)
		const busy = `{"title": "Busy", "status": 503, "code": "overloaded", "retry": "after", "then": "send_again"}`
		io.WriteString(w, busy) //nolint:errcheck // to the app
	})
	if s := phone.tap("start", offer, frontdesktest.Day(1)); s.Problem == nil || s.Problem.Code != "overloaded" || s.Session != nil {
		t.Fatalf("while the gateway is busy the app shows %+v", s)
	}
	screen := phone.tap("start", offer, frontdesktest.Day(1))
	if screen.Problem != nil || screen.Registration == nil {
		t.Fatalf("at the second tap the app shows %+v", screen)
	}
	network.replaceNextResponse(func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "<html>Bad Gateway</html>") //nolint:errcheck // to the app
	})
	if s := phone.tap("pay"); s.Problem != nil || s.Shown == "" {
		t.Fatalf("behind a failing proxy the app shows %+v", s)
	}
	gateway.confirm(phone.payment(gateway), frontdesktest.ApprovedCard)
	phone.tap("appear")
	phone.tap("await", "done")
	expectOneOfEach(t, gateway, screen.Registration.Cart.DueNow.Amount)
}

// testAppMovesToAnotherPhone resumes on a second phone. The first one's session ends; the second one pays.
func testAppMovesToAnotherPhone(t *testing.T, classes string, gateway appGateway) {
	first := newPhone(t, classes, t.TempDir(), gateway.URL)
	due := first.chooseAndStart()
	link := first.tap("link").Link
	gateway.Token = first.screen.Session.Token
	path := "/v1/registrations/" + first.screen.Session.ID
	second := newPhone(t, classes, t.TempDir(), gateway.URL)
	s := second.tap("resume", link)
	if s.Session == nil || s.Session.ID != first.screen.Session.ID || s.Session.Token == first.screen.Session.Token {
		t.Fatalf("on the second phone the app shows %+v", s)
	}
	gateway.Do("DELETE", path+"/session", nil).Into(http.StatusNoContent, nil)
	if s := first.tap("open"); s.Problem == nil || s.Problem.Code != "registration_not_found" || s.Session != nil || s.Registration != nil {
		t.Errorf("after the end of its session the app shows %+v", s)
	}
	if s := first.tap("pay"); s.Shown != "" {
		t.Errorf("without a session the browser shows %q", s.Shown)
	}
	second.tap("pay")
	gateway.confirm(second.payment(gateway), frontdesktest.ApprovedCard)
	second.tap("appear")
	second.tap("await", "done")
	gateway.Records().ExpectOnePayment(t, due)
}

// testAppShowsCatalogue reads the clubs with their start dates, and the offers with what is due; the gateway's figures are the same.
func testAppShowsCatalogue(t *testing.T, classes string, gateway appGateway) {
	phone := newPhone(t, classes, t.TempDir(), gateway.URL)
	clubs := phone.tap("clubs").Clubs
	if len(clubs) == 0 || clubs[0].Address.City == "" {
		t.Fatalf("the app shows the clubs %+v", clubs)
	}
	if dates := phone.tap("club", clubs[0].ID).Club.StartDates; dates.Earliest == "" || dates.Latest <= dates.Earliest {
		t.Errorf("the app shows the start dates %+v", dates)
	}
	offers := phone.tap("choose").Offers
	for _, shown := range offers {
		if shown.ID != frontdesktest.DirectDebit {
			continue
		}
		var product api.Product
		gateway.Do("GET", "/v1/clubs/"+clubs[0].ID+"/offers/"+shown.ID, nil).Into(http.StatusOK, &product)
		if due := product.Offers[0].DueToday.Price.Amount; shown.DueToday.Price.Amount != due || shown.DebitChoice != "month_day" {
			t.Errorf("the app shows %+v, and the gateway says that %d is due", shown, due)
		}
		return
	}
	t.Errorf("the app shows no offer with debits: %+v", offers)
}

// testAppChoosesConsents gives a consent and withdraws it, and a locked one stays. The gateway has the same.
func testAppChoosesConsents(t *testing.T, classes string, gateway appGateway) {
	phone := newPhone(t, classes, t.TempDir(), gateway.URL)
	phone.chooseAndStart()
	gateway.Token = phone.screen.Session.Token
	held := func(id string) bool {
		var list api.ConsentList
		gateway.Do("GET", "/v1/registrations/"+phone.screen.Session.ID+"/consents", nil).Into(http.StatusOK, &list)
		at := slices.IndexFunc(list.Items, func(c api.Consent) bool { return c.Id == id })
		return at >= 0 && list.Items[at].Authorized
	}
	listed := phone.tap("consents").Consents
	free := slices.IndexFunc(listed, func(c consent) bool { return !c.Locked && !c.Authorized })
	locked := slices.IndexFunc(listed, func(c consent) bool { return c.Locked })
	if free < 0 || locked < 0 {
		t.Fatalf("the app shows the consents %+v", listed)
	}
	for _, wish := range []bool{true, false} {
		s := phone.tap("consent", listed[free].ID, strconv.FormatBool(wish))
		if s.Problem != nil || s.Consents[free].Authorized != wish || held(listed[free].ID) != wish {
			t.Errorf("after the wish %t the app shows %+v", wish, s)
		}
	}
	if s := phone.tap("consent", listed[locked].ID, "false"); s.Problem != nil || !s.Consents[locked].Authorized || !held(listed[locked].ID) {
		t.Errorf("after the wish to withdraw a locked consent the app shows %+v", s)
	}
}

// testAppMeetsLaterGateway signs up at a gateway that sends values which the app has never heard of. The app shows the
// messages, and does what it can.
func testAppMeetsLaterGateway(t *testing.T, classes string, gateway appGateway) {
	phone := newPhone(t, classes, t.TempDir(), frontdesktest.NewLaterGateway(t, gateway.URL))
	due := phone.chooseAndStart()
	if s := phone.tap("pay"); s.Problem == nil || s.Problem.Code != frontdesktest.LaterWord || s.Registration == nil {
		t.Fatalf("after a refusal with an unknown reason the app shows %+v", s)
	}
	if s := phone.tap("pay"); s.Problem != nil || s.Shown == "" {
		t.Fatalf("with an unknown step and method the app shows %+v", s)
	}
	gateway.confirm(phone.payment(gateway), frontdesktest.ApprovedCard)
	phone.tap("appear")
	if s := phone.tap("await", frontdesktest.LaterWord+"_done"); !strings.Contains(s.Registration.Message.Text, "Bienvenue") {
		t.Errorf("at an unknown last step the app shows %+v", s.Registration)
	}
	gateway.Records().ExpectOnePayment(t, due)
}

// payment reads the payment that the app has started.
func (p *phone) payment(g appGateway) api.Payment {
	p.t.Helper()
	g.Token = p.screen.Session.Token
	return *g.Registration(p.screen.Session.ID).Payment
}

// expectOneOfEach fails the test unless one contact, one payment at the processor and one in the ledger were made.
func expectOneOfEach(t *testing.T, g appGateway, amount int64) {
	t.Helper()
	g.Records().ExpectOnePayment(t, amount)
	contacts := slices.DeleteFunc(g.Operations(0), func(name string) bool { return name != "createContact" })
	if payments := g.payments(); len(contacts) != 1 || payments != 1 {
		t.Errorf("the app made %d contacts and %d payments at the processor", len(contacts), payments)
	}
}

// appNetwork is the network between an app and its gateway.
type appNetwork struct {
	url  string
	next atomic.Pointer[func(http.ResponseWriter)]
}

func newAppNetwork(t *testing.T, gateway string) *appNetwork {
	t.Helper()
	address, err := url.Parse(gateway)
	frontdesktest.Must(t, err)
	network, proxy := &appNetwork{}, httputil.NewSingleHostReverseProxy(address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			proxy.ServeHTTP(w, r)
		} else if replace := network.next.Swap(nil); replace != nil {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			(*replace)(w)
		} else {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	network.url = server.URL
	return network
}

// replaceNextResponse sends something else instead of the response to the next POST, which has its effect.
func (n *appNetwork) replaceNextResponse(replace func(http.ResponseWriter)) { n.next.Store(&replace) }

// screen is what the app shows.
type screen struct {
	Registration *struct {
		Message struct{ Text string }
		Cart    struct {
			DueNow struct{ Amount int64 }
			Valid  bool
		}
		Mandate *struct {
			State        string
			AttemptsLeft int
		}
		Payment *struct {
			State string
			Card  struct{ DeclineCode string }
		}
	}
	Problem *struct{ Code string }
	Shown   string // the address in the browser
	Session *struct{ ID, Token string }
	Clubs   []struct {
		ID      string
		Address struct{ City string }
	}
	Club struct {
		StartDates struct{ Earliest, Latest string }
	}
	Offers []struct {
		ID, DebitChoice string
		DueToday        struct{ Price struct{ Amount int64 } }
		Needs           []string
	}
	Days []struct {
		Day  int
		Date string
	}
	Link     string // to continue on another phone
	Consents []consent
}

// consent is what a buyer can allow the club to send.
type consent struct {
	ID                 string
	Authorized, Locked bool
}

// phone runs the app in a process of its own.
type phone struct {
	t       *testing.T
	classes string
	folder  string // what the phone stores
	gateway string
	screen  screen

	cmd   *exec.Cmd
	taps  io.Writer
	lines chan []byte // what the app shows after each tap; closed when it has ended
}

func newPhone(t *testing.T, classes, folder, gateway string) *phone {
	t.Helper()
	p := &phone{t: t, classes: classes, folder: folder, gateway: gateway}
	t.Cleanup(p.end)
	return p.restart()
}

// restart starts the app, after its end if it runs.
func (p *phone) restart() *phone {
	p.t.Helper()
	p.end()
	args := []string{"-Duser.language=fr", "-cp", p.classes, "club.example.frontdesk.MainKt", p.gateway, p.folder}
	p.cmd = exec.Command("java", slices.Concat(quickJava, args)...)
	taps, err := p.cmd.StdinPipe()
	frontdesktest.Must(p.t, err)
	shown, err := p.cmd.StdoutPipe()
	frontdesktest.Must(p.t, err)
	p.cmd.Stderr = os.Stderr
	frontdesktest.Must(p.t, p.cmd.Start())
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for reader := bufio.NewReader(shown); ; {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	p.taps, p.lines = taps, lines
	return p
}

// kill ends the app as the system does when memory is short, and does not wait.
func (p *phone) kill() { p.cmd.Process.Kill() } //nolint:errcheck // it may have ended

// end kills the app, if it runs, and waits for its end.
func (p *phone) end() {
	if p.cmd != nil {
		p.kill()
		p.cmd.Wait() //nolint:errcheck // it was killed
	}
}

// die taps, and waits until the app has been killed.
func (p *phone) die(words ...string) {
	p.t.Helper()
	if s, ok := p.send(words); ok {
		p.t.Fatalf("the app was not killed, and shows %+v", s)
	}
}

// tap taps, and returns what the app shows then.
func (p *phone) tap(words ...string) screen {
	p.t.Helper()
	s, ok := p.send(words)
	if !ok {
		p.t.Fatalf("the app crashed at %v", words)
	}
	return s
}

func (p *phone) send(words []string) (shown screen, ok bool) {
	p.t.Helper()
	_, err := io.WriteString(p.taps, strings.Join(words, " ")+"\n")
	frontdesktest.Must(p.t, err)
	select {
	case line, running := <-p.lines:
		if !running {
			return shown, false
		}
		if err := json.Unmarshal(line, &shown); err != nil {
			p.t.Fatalf("%v in %s", err, line)
		}
	case <-time.After(frontdesktest.Patience):
		p.t.Fatalf("the app shows nothing after %v", words)
	}
	p.screen = shown
	return shown, true
}

// choose returns the first offer that a card can pay at once.
func (p *phone) choose() string {
	p.t.Helper()
	offers := p.tap("choose").Offers
	for _, offer := range offers {
		if offer.DueToday.Price.Amount > 0 && slices.Contains(offer.Needs, "startDate") && !slices.Contains(offer.Needs, "debit") {
			return offer.ID
		}
	}
	p.t.Fatalf("the app shows no offer to pay at once: %+v", offers)
	return ""
}

// chooseAndStart starts a registration, and returns the amount that is due.
func (p *phone) chooseAndStart() int64 {
	p.t.Helper()
	s := p.tap("start", p.choose(), frontdesktest.Day(1))
	if s.Registration == nil || !s.Registration.Cart.Valid || s.Session == nil {
		p.t.Fatalf("after the start the app shows %+v", s)
	}
	return s.Registration.Cart.DueNow.Amount
}

// quickJava are flags for short programs.
var quickJava = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}

// compileKotlin compiles the file for Android with appLink in it, and its stand-ins, and returns the class path of the
// app. A warning of the compiler fails the test.
func compileKotlin(t *testing.T) (classes string) {
	t.Helper()
	compiler := filepath.Join(nodeModules(t), "kotlin-compiler", "lib")
	var libraries []string
	for _, name := range []string{"kotlin-stdlib", "kotlin-reflect", "kotlinx-coroutines-core-jvm"} {
		libraries = append(libraries, filepath.Join(compiler, name+".jar"))
	}
	folder, path := t.TempDir(), strings.Join(libraries, string(filepath.ListSeparator))
	app, file := filepath.Join(folder, "app.jar"), filepath.Join(folder, "Frontdesk.kt")
	text := read(t, "docs/examples/Frontdesk.kt")
	if !strings.Contains(text, "https://signup.club.example") {
		t.Error("the file has no link of the app")
	}
	frontdesktest.Must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "https://signup.club.example", appLink)), 0o600))
	sources, err := filepath.Glob(filepath.Join(frontdesktest.Root(), "e2e", "docs", "kotlin", "*.kt"))
	frontdesktest.Must(t, err)
	args := slices.Concat(quickJava, []string{"-jar", filepath.Join(compiler, "kotlin-compiler.jar"), "-no-stdlib", "-no-reflect", "-Werror",
		"-classpath", path, "-d", app, file}, sources)
	if out, err := exec.CommandContext(t.Context(), "java", args...).CombinedOutput(); err != nil {
		t.Fatalf("the Kotlin compiler, which needs Java and the packages of e2e/web (run .ci/tools): %v\n%s", err, out)
	}
	return app + string(filepath.ListSeparator) + path
}
