package clubsim

import "net/http"

func (w *World) serveInspector(rw http.ResponseWriter, req *request) {
	write(rw, controlError(http.StatusNotFound, "There is no such control endpoint."))
}
