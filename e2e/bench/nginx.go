package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"frontdesk/e2e/campaign/rig"
)

// nginxFile has nginx keep answers as their Cache-Control says. It is one process, so that
// nothing of it outlives its end; a line in the log for each request is left out, as the
// gateway leaves it out for what comes from memory.
const nginxFile = `daemon off;
master_process off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 100000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	proxy_cache_path %[1]s/cache keys_zone=pages:1m;
	server {
		listen %[2]s;
		location / { proxy_pass %[3]s; proxy_cache pages; proxy_cache_lock on; }
	}
}
`

// nginx runs nginx as a caching proxy on the server's core, and gives its address; nil
// where it is not installed.
func (h *harness) nginx(before string) (*rig.Process, string, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil, "", nil //nolint:nilerr // the row says so
	}
	at, err := address()
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Join(h.dir, "nginx")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxFile, dir, at, before), 0o600); err != nil {
		return nil, "", err
	}
	p, err := h.serve("getrlimit", nil, path, "-p", dir, "-c", file)
	return p, "http://" + at, err
}
