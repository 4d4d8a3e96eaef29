package site_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
	"frontdesk/handlers"
)

// TestPanelOnlyInMockMode checks that other modes serve nothing of the panel, and that the site has no
// trace of it.
func TestPanelOnlyInMockMode(t *testing.T) {
	t.Parallel()
	_, live := frontdesktest.NewEnv(t).Gateway(t)
	mock := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	for _, path := range []string{"/panel/panel.js", "/panel/panel.css", "/panel/requests?world=demo", "/panel/changes", "/panel/"} {
		live.Do("GET", path, nil).Problem(api.NotFound)
	}
	live.Do("DELETE", "/panel/requests?world=demo", nil).Problem(api.NotFound)
	page := live.Do("GET", "/", nil)
	if page.Status != http.StatusOK || strings.Contains(strings.ToLower(string(page.Body)), "/panel") {
		t.Errorf("status %d, the page is\n%s", page.Status, page.Body)
	}
	mock.Do("GET", "/panel/panel.js", nil).Into(http.StatusOK, nil)
	line := `<script type="module" src="/panel/panel.js"></script>`
	with := string(mock.Do("GET", "/", nil).Body)
	if strings.Count(with, line) != 1 || strings.Replace(with, "  "+line+"\n", "", 1) != string(page.Body) {
		t.Errorf("in mock mode the page is\n%s", with)
	}
}

// TestPanelHidesSecrets runs a journey with every kind of secret, and checks what is kept of its
// requests.
func TestPanelHidesSecrets(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	var registration api.Registration
	client.Do("POST", "/v1/registrations", api.StartRegistration{
		ClubId: "11", Person: frontdesktest.Person(), Items: &[]api.NewItem{frontdesktest.DebitItem("2031-03-01")},
	}, frontdesktest.Key("")).Into(http.StatusCreated, &registration)
	client.Token = *registration.Token
	path := "/v1/registrations/" + registration.Id
	key := frontdesktest.Key("")
	client.Do("POST", path+"/mandate", map[string]string{"holder": "Ada Martin", "iban": frontdesktest.GoodIBAN},
		key).Into(http.StatusCreated, nil)
	code := (&siteVisitor{t: t, c: client}).code()
	client.Do("POST", path+"/mandate/signature", map[string]string{"code": code}, frontdesktest.Key("")).Into(http.StatusCreated, nil)
	client.Do("POST", path+"/mandate", map[string]string{"holder": "Ada Martin", "iban": frontdesktest.GoodIBAN}, frontdesktest.Key("")).
		Problem(api.MandateSigned)
	client.As("customer").Do("GET", "/v1/me", nil).Into(http.StatusOK, nil)
	client.Do("GET", path+"/events?token="+client.Token+"&nowhere", nil,
		[2]string{"Authorization", "Bearer unknown"}).Problem(api.InvalidRequest)
	client.Do("GET", "/v1/"+client.Token, nil).Problem(api.NotFound)

	kept := string(client.Do("GET", "/panel/requests?world=demo", nil).Body)
	for name, secret := range map[string]string{
		"token": client.Token, "code": code, "IBAN": frontdesktest.GoodIBAN, "short IBAN": "3M02", "key": key[1],
		"email": "ada@", "login": "eyJ",
	} {
		if strings.Contains(kept, secret) {
			t.Errorf("%s is in what the panel keeps: %s", name, kept)
		}
	}
	for _, want := range []string{`"path":"` + path + `/mandate"`, `"code":"mandate_signed"`, `"path":"/v1/me"`, `"path":"","status":404`} {
		if !strings.Contains(kept, want) {
			t.Errorf("%s is not in what the panel keeps: %s", want, kept)
		}
	}
}

// TestWorldCookie checks that all of a page's requests, including an EventSource's, are in the world
// that the panel has chosen.
func TestWorldCookie(t *testing.T) {
	t.Parallel()
	client := frontdesktest.NewClient(t, frontdesktest.NewMock(t).URL)
	cookie := func(world string) [2]string { return [2]string{"Cookie", "frontdesk-world=" + world} }
	client.Do("GET", "/v1/clubs", nil, cookie("demo-mine")).Into(http.StatusOK, nil)
	client.Do("GET", "/v1/clubs", nil, cookie("demo-mine"), [2]string{"X-Frontdesk-World", "demo-theirs"}).Into(http.StatusOK, nil)
	for _, world := range []string{"demo-mine", "demo-theirs"} {
		of := *client
		of.World = world
		if calls, responses := of.Calls(), answersOf(client, world); len(calls) == 0 || len(responses) != 1 {
			t.Errorf("%s: %+v for %+v", world, calls, responses)
		}
	}
	if calls := client.Calls(); len(calls) != 0 {
		t.Errorf("demo was asked %+v", calls)
	}
	client.Do("GET", "/v1/clubs", nil, cookie("acme")).Problem(api.MalformedRequest)

	_, tested := frontdesktest.NewEnv(t).Gateway(t)
	tested.Do("GET", "/v1/clubs", nil, cookie("acme")).Into(http.StatusOK, nil)
}

// TestPanelTypes checks the types of the panel's scripts, which have no build step.
func TestPanelTypes(t *testing.T) {
	t.Parallel()
	web := func(path ...string) string { return filepath.Join(append([]string{frontdesktest.Root()}, path...)...) }
	check := exec.CommandContext(
		t.Context(), web("e2e", "web", "node_modules", ".bin", "tsc"), "-p",
		web("handlers", "devtools", "web", "jsconfig.json"),
	)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v (make tools installs tsc)\n%s", err, out)
	}
}

// answersOf returns the requests that the panel knows of a world.
func answersOf(c *frontdesktest.Client, world string) []handlers.RequestInfo {
	var list struct{ Items []handlers.RequestInfo }
	c.Do("GET", "/panel/requests?world="+world, nil).Into(http.StatusOK, &list)
	return list.Items
}
