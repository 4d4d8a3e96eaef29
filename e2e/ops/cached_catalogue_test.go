package ops_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"frontdesk/e2e/frontdesktest"
)

// bareServer is the first argument that makes this test binary the server to compare with. It has a process of its own,
// as the gateway has.
const bareServer = "bare-server"

// TestCatalogueIsServedFromTheCache compares the CPU time of a catalogue that the gateway has read before with that of
// the same bytes from bare net/http. Both processes run at the same time, and CPU time does not grow while other
// programs use the machine. On a busy machine the ratio was 0.62 and 0.63, and 0.36 and 0.37 without the cache of responses.
func TestCatalogueIsServedFromTheCache(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("CPU time is only measured on Linux")
	}
	const warmUp, requests, least = 200, 2000, 0.48
	gateway, _ := frontdesktest.NewEnv(t).Gateway(t)
	catalogue := gateway.URL + "/v1/clubs/11/products"
	page := readCompressed(t, catalogue)
	bare := startBareServer(t, page)
	if !bytes.Equal(readCompressed(t, bare.URL), page) {
		t.Fatal("the server to compare with sends other bytes")
	}
	read := func(times int) {
		for range times {
			readCompressed(t, catalogue)
			readCompressed(t, bare.URL)
		}
	}
	read(warmUp)
	used := func(p *frontdesktest.Process) time.Duration { return frontdesktest.CPUTime(t, p.PID()) }
	before, bareBefore := used(gateway), used(bare)
	read(requests)
	each, bareEach := (used(gateway)-before)/requests, (used(bare)-bareBefore)/requests
	ratio := float64(bareEach) / float64(each)
	t.Logf("a catalogue of %d bytes takes %s of CPU time, and %s from bare net/http: %.2f", len(page), each, bareEach, ratio)
	if ratio < least {
		t.Errorf("the gateway reaches %.2f of bare net/http, want at least %.2f: is the catalogue still served from the cache?", ratio, least)
	}
}

// compressed passes bodies on as they came.
var compressed = http.Client{Transport: &http.Transport{DisableCompression: true}}

// readCompressed returns the body as a browser receives it.
func readCompressed(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	frontdesktest.Must(t, err)
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := compressed.Do(request)
	frontdesktest.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	frontdesktest.Must(t, err)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%s: status %d, %v", url, response.StatusCode, response.Header)
	}
	return body
}

// startBareServer serves a page with net/http alone until the test ends.
func startBareServer(t *testing.T, page []byte) *frontdesktest.Process {
	t.Helper()
	self, err := os.Executable()
	frontdesktest.Must(t, err)
	file := t.TempDir() + "/page"
	frontdesktest.Must(t, os.WriteFile(file, page, 0o600))
	at := fmt.Sprintf("127.0.0.1:%d", frontdesktest.FreePort(t))
	p, err := frontdesktest.Launch(t.Context(), "serving", nil, self, bareServer, file, at)
	frontdesktest.Must(t, err)
	p.EndWith(t)
	p.URL = "http://" + at
	return p
}

// serveBare is the program of startBareServer.
func serveBare(file, at string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	fmt.Println("serving")
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(page)
	}))
}
