package collector_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/upstream/collector"
)

// lookup reads variables from a map.
func lookup(environment map[string]string) collector.Lookup {
	return func(variable string) (text, from string, err error) { return environment[variable], variable, nil }
}

// TestReadConfig checks what the variables mean, and that one for traces alone wins.
func TestReadConfig(t *testing.T) {
	t.Parallel()
	cfg, err := collector.ReadConfig(lookup(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":       "http://127.0.0.1:4318/",
		"OTEL_EXPORTER_OTLP_HEADERS":        "api-key=for-all",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "api-key=for%20traces, x-team = desk,",
		"OTEL_EXPORTER_OTLP_COMPRESSION":    "gzip",
	}))
	if err != nil || cfg.URL != "http://127.0.0.1:4318/v1/traces" || !cfg.Gzip {
		t.Fatalf("%v, %+v", err, cfg)
	}
	if len(cfg.Headers) != 2 || cfg.Headers["api-key"] != "for traces" || cfg.Headers["x-team"] != "desk" {
		t.Errorf("the headers are %v", cfg.Headers)
	}
	plain, err := collector.ReadConfig(lookup(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
	}))
	if err != nil || plain.Gzip || len(plain.Headers) != 0 {
		t.Errorf("%v, %+v", err, plain)
	}
	off, err := collector.ReadConfig(lookup(map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "zip"}))
	if off != nil || err != nil {
		t.Errorf("without a collector: %v, %+v", err, off)
	}
}

// TestReadConfigRefuses checks that all problems are reported at once, each with its variable, and no value.
func TestReadConfigRefuses(t *testing.T) {
	t.Parallel()
	noCertificate := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(noCertificate, []byte("k1-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := collector.ReadConfig(lookup(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":           "http://127.0.0.1:4318?k1-secret",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":     "api-key=x,k1-secret",
		"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "k1-secret",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        noCertificate,
		"OTEL_EXPORTER_OTLP_CLIENT_KEY":         "/none",
	}))
	if err == nil {
		t.Fatal("it is accepted")
	}
	want := []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT has a ?",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS: header 2 is not name=value",
		"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION must be gzip or none",
		"OTEL_EXPORTER_OTLP_CERTIFICATE: the file holds no certificate",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: ",
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("it says:\n%v", err)
	}
	for i, start := range want {
		if !strings.HasPrefix(lines[i], start) || strings.Contains(lines[i], "k1-secret") {
			t.Errorf("line %d is %q, not %q", i+1, lines[i], start)
		}
	}
	for _, address := range []string{"collector", "ftp://collector", "http://", ":"} {
		_, err := collector.ReadConfig(lookup(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": address}))
		if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT is not an address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestReadConfigNamesWhatCannotBeRead: a variable that names a file which cannot be read is named with the problem.
func TestReadConfigNamesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, unread := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_CLIENT_KEY"} {
		_, err := collector.ReadConfig(func(variable string) (text, from string, err error) {
			switch variable {
			case unread:
				return "", variable + "_FILE", os.ErrPermission
			case "OTEL_EXPORTER_OTLP_ENDPOINT":
				return "http://127.0.0.1:4318", variable, nil
			}
			return "", "", nil
		})
		if want := unread + ": permission denied"; err == nil || err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
