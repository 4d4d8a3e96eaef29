package sandbox

import (
	"fmt"
	"net/http"
	"slices"
)

// getSettings responds with the settings.
func (s *Server) getSettings(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.world().webhooks.current())
}

// putSettings replaces the settings: a member that is left out gets its default.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request) {
	var in Settings
	body, err := readBody(w, r)
	if err == nil {
		err = decodeJSON(r, body, &in)
	}
	if err == nil {
		err = in.check()
	}
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, s.world().webhooks.set(in))
}

func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	s.Reset()
	w.WriteHeader(http.StatusNoContent)
}

func (in *Settings) check() error {
	modes := []WebhookMode{WebhooksNormal, WebhooksDrop, WebhooksDuplicate, WebhooksLate, WebhooksReorder}
	if in.Webhooks == "" {
		in.Webhooks = WebhooksNormal
	}
	if !slices.Contains(modes, in.Webhooks) {
		return errInvalid("invalid_settings", fmt.Sprintf("webhooks must be one of %s.", modes))
	}
	return checkURL("webhookUrl", in.WebhookURL)
}

func (c *webhookSender) current() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings
}

func (c *webhookSender) set(settings Settings) Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings = settings
	return settings
}
