package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"frontdesk/api"
	"frontdesk/e2e/frontdesktest"
)

// TestReplayAfterTheSession: on a shared computer, a repetition of the request that began a session shows nothing once that has ended.
func TestReplayAfterTheSession(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][][2]string{"token": nil, "cookie": {{"X-Frontdesk-Session", "cookie"}}} {
		for _, path := range []string{"/v1/registrations", "/v1/resumptions"} {
			client := newVisitor(t)
			body := `{"clubId":"11"}`
			if path == "/v1/resumptions" {
				var link api.ResumeLink
				client.Do("POST", "/v1/registrations/"+client.Register().Id+"/resume-link", nil, frontdesktest.Key("")).Into(http.StatusCreated, &link)
				body = `{"resume":"` + link.Url[strings.LastIndex(link.Url, "=")+1:] + `"}`
			}
			begin := append([][2]string{frontdesktest.Key("")}, headers...)
			other := *client
			other.Token = ""
			first := other.Do("POST", path, body, begin...)
			var begun api.Registration
			first.Into(http.StatusCreated, &begun)
			var end [][2]string
			if set, err := http.ParseSetCookie(first.Header.Get("Set-Cookie")); err == nil {
				end = append(end, [2]string{"Cookie", set.Name + "=" + set.Value})
			} else {
				end = append(end, [2]string{"Authorization", "Bearer " + frontdesktest.Value(begun.Token)})
			}
			other.Do("POST", path, body, begin...).Into(http.StatusCreated, nil)
			other.Do("DELETE", "/v1/registrations/"+begun.Id+"/session", nil, end...).Into(http.StatusNoContent, nil)
			again := other.Do("POST", path, body, begin...)
			if again.Status != http.StatusNotFound || again.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s with a %s is replayed as %d, %s", path, name, again.Status, again.Body)
				continue
			}
			again.Problem(api.RegistrationNotFound)
		}
	}
}
