package handlers

import (
	"cmp"
	_ "embed"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"frontdesk/api"
	"frontdesk/upstream/captcha"
)

// sitePolicy is the content security policy of the site. It allows what a page needs, and nothing else.
const sitePolicy = "default-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"

// outside lists the other origins that a page may use, by directive.
type outside map[string]string

// stripeFields is for Stripe's card fields, as Stripe documents it (docs.stripe.com/security/guide): its script and frames, which
// are served from changing hosts, the frame of a bank's challenge (hooks), and its API.
var stripeFields = outside{
	"script-src":  "https://js.stripe.com https://*.js.stripe.com",
	"frame-src":   "https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com",
	"connect-src": "https://api.stripe.com",
}

// cardFields returns what the card processor's fields need; nil without a script. An address that is not Stripe's serves all of it.
func (s *Server) cardFields() outside {
	switch origin := originOf(s.cfg.CardScriptURL); {
	case s.cfg.CardScriptURL == "":
		return nil
	case origin == "https://js.stripe.com":
		return stripeFields
	default:
		return outside{"script-src": origin, "frame-src": origin, "connect-src": origin}
	}
}

// captchas is what the providers' documentation asks for.
var captchas = map[string]outside{
	captcha.HCaptcha: {
		"script-src": "https://hcaptcha.com https://*.hcaptcha.com", "frame-src": "https://hcaptcha.com https://*.hcaptcha.com",
		"style-src": "https://hcaptcha.com https://*.hcaptcha.com", "connect-src": "https://hcaptcha.com https://*.hcaptcha.com",
	},
	captcha.ReCAPTCHA: {
		"script-src": "https://www.google.com/recaptcha/ https://www.gstatic.com/recaptcha/",
		"frame-src":  "https://www.google.com/recaptcha/ https://recaptcha.google.com/recaptcha/",
	},
	captcha.Turnstile: {"script-src": "https://challenges.cloudflare.com", "frame-src": "https://challenges.cloudflare.com"},
}

// siteContentPolicy allows other origins only where the card processor, the captcha or the clubs' images need
// them.
func (s *Server) siteContentPolicy() string {
	needed := []outside{s.cardFields()}
	if s.cfg.Captcha != nil {
		needed = append(needed, captchas[s.cfg.Captcha.Widget().Provider])
	}
	if s.cfg.Catalogue != nil {
		if images := s.cfg.Catalogue.ImageOrigins(); len(images) > 0 {
			needed = append(needed, outside{"img-src": strings.Join(images, " ")})
		}
	}
	policy := sitePolicy
	for _, directive := range []string{"img-src", "script-src", "frame-src", "style-src", "connect-src"} {
		allowed := "'self'"
		for _, origins := range needed {
			if origins[directive] != "" {
				allowed += " " + origins[directive]
			}
		}
		if allowed != "'self'" {
			policy += "; " + directive + " " + allowed
		}
	}
	return policy
}

// mountFiles adds a route for every file of the signup site or of the client, so that other paths get the same
// response as unknown paths of the API. Browsers revalidate each file: those of two versions would not fit together.
func (s *Server) mountFiles(at string, files fs.FS) error {
	policy, both := s.siteContentPolicy(), []string{http.MethodGet, http.MethodHead}
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		file := sync.OnceValue(func() encodings { // at the first request, so that a gateway starts at once
			kind := cmp.Or(mime.TypeByExtension(filepath.Ext(path)), http.DetectContentType(content))
			return encode(content, http.Header{"Content-Type": {kind}, "Vary": {"Origin, Accept-Encoding"}})
		})
		address := at + path
		if path == "index.html" { // is served at one address only
			s.router.Match(both, address, func(c echo.Context) error {
				return c.Redirect(http.StatusMovedPermanently, (&url.URL{Path: "./", RawQuery: c.QueryString()}).String())
			})
			address = "/"
		}
		s.router.Match(both, address, func(c echo.Context) error {
			c.Response().Header().Set("Content-Security-Policy", s.here(c.Request(), policy))
			return file().write(c.Response(), c.Request(), "no-cache")
		})
		return nil
	})
}

// Page is a page below /docs, which changes only with the gateway.
type Page struct {
	ContentType string
	Policy      string                 // the content security policy; empty: that of all responses
	Body        func() ([]byte, error) // is called at the first request, because few processes serve one
}

// servePage serves a page that is the same for every visitor.
func (s *Server) servePage(page Page) echo.HandlerFunc {
	read := func() []byte {
		body, err := page.Body()
		if err != nil {
			panic(err) // an embedded file is missing
		}
		return body
	}
	encodeBody := func(body []byte) encodings {
		return encode(body, http.Header{"Content-Type": {page.ContentType}, "Vary": {"Origin, Accept-Encoding"}})
	}
	encoded := sync.OnceValue(func() encodings { return encodeBody(read()) })
	return func(c echo.Context) error {
		if page.Policy != "" {
			c.Response().Header().Set("Content-Security-Policy", page.Policy)
		}
		until := exchangeOf(c.Request().Context()).At.Add(dayless)
		content := encoded
		if s.home(c.Request()) != s.cfg.PublicURL {
			content = func() encodings { return encodeBody([]byte(s.here(c.Request(), string(read())))) }
		}
		return content().write(c.Response(), c.Request(), s.cacheControl(c.Request(), until, false))
	}
}

// notFoundPage uses the site's style and its two languages. It needs no script.
//
//go:embed notfound.html
var notFoundPage string

// confirmationElsewhere says where a confirmation is, to a browser that may not read it: the link to it may have been kept.
//
//go:embed confirmation.html
var confirmationElsewhere string

// wantsPage reports whether a browser requests a page. Unknown paths below /v1 and /ops, which are for
// programs, get a problem document, whatever the request accepts.
func wantsPage(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method == http.MethodGet && first != "v1" && first != "ops" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// meantPage returns the developers' page that an address without one means; empty without such a page.
func (s *Server) meantPage(path string) string {
	if _, ok := s.cfg.Docs[path+".md"]; ok {
		return path + ".md"
	}
	if s.isMock() {
		return map[string]string{"/sim": "/sim/demo/_control/", "/sandbox": "/sandbox/payments"}[path]
	}
	return ""
}

// writeProblemPage writes the page for a browser whose request failed. written is false where only programs make requests.
func (s *Server) writeProblemPage(c echo.Context, texts texts, problem api.Problem) (written bool, err error) {
	isRefused := problem.Status == http.StatusUnauthorized || problem.Status == http.StatusNotFound
	switch {
	case isRefused && c.Path() == confirmationRoute && prefersHTML(c.Request().Header.Get("Accept")):
		return true, s.writeSitePage(c, problem.Status, confirmationElsewhere)
	case !wantsPage(c.Request()):
		return false, nil
	case problem.Status == http.StatusNotFound:
		return true, s.writeNotFoundPage(c)
	case c.Path() == cardPageRoute:
		page := cardPage{texts: texts, State: pageUnavailable, Message: cmp.Or(value(problem.Detail), problem.Title)}
		return true, s.writeCardPage(c, problem.Status, page)
	}
	return false, nil
}

// writeNotFoundPage redirects to the page that is meant, if there is one.
func (s *Server) writeNotFoundPage(c echo.Context) error {
	if page := s.meantPage(c.Request().URL.Path); page != "" {
		return c.Redirect(http.StatusFound, page)
	}
	return s.writeSitePage(c, http.StatusNotFound, notFoundPage)
}

// writeSitePage writes a page in the site's style and under its policy.
func (s *Server) writeSitePage(c echo.Context, status int, page string) error {
	c.Response().Header().Set("Content-Security-Policy", s.here(c.Request(), s.siteContentPolicy()))
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Add("Vary", "Accept")
	return c.HTML(status, page)
}
