package handlers

import (
	"net/http"
	"net/http/pprof"
)

// This file serves what machines and developers read of the process itself.

// mountDebug adds the metrics and the profiles. The command line is no profile: it
// can hold secrets.
func (o *Ops) mountDebug() {
	o.mux.Handle("GET /metrics", o.cfg.Metrics)
	o.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	o.mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	o.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	o.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	o.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
