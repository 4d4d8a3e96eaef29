package docs_test

import (
	"encoding/json"
	"regexp"
	"testing"
)

// TestDevcontainer checks that the development container has the module's version of Go, and forwards the port of the mock that it runs.
func TestDevcontainer(t *testing.T) {
	t.Parallel()
	var container struct {
		Features map[string]struct {
			Version string
		}
		ForwardPorts      []int
		PortsAttributes   map[string]any
		PostAttachCommand string
	}
	if err := json.Unmarshal([]byte(read(t, ".devcontainer/devcontainer.json")), &container); err != nil {
		t.Fatal(err)
	}
	module := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if got := container.Features["ghcr.io/devcontainers/features/go:1"].Version; got != module {
		t.Errorf("the container has Go %s, the module needs %s", got, module)
	}
	if len(container.ForwardPorts) != 1 || container.ForwardPorts[0] != 8080 || container.PortsAttributes["8080"] == nil ||
		container.PostAttachCommand != "go run ." {
		t.Errorf("the container is %+v", container)
	}
}
