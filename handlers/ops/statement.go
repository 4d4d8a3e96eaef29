package ops

import (
	"net/http"

	"frontdesk/flows"
	"frontdesk/flows/statements"
)

func (s *Server) listStatements(r *http.Request, _ string) (any, error) {
	asked, err := listingOf(r)
	if err != nil {
		return nil, err
	}
	return s.cfg.Statements.List(r.Context(), statements.ListOptions{Kind: flows.StatementKind(r.URL.Query().Get("kind")),
		All: asked.all, Since: asked.since, Until: asked.until})
}

func (s *Server) showStatement(r *http.Request, _ string) (any, error) {
	return s.cfg.Statements.Show(r.Context(), r.PathValue("id"))
}

// completion says what an operator did about a statement.
type completion struct {
	Reference string `json:"reference"`
	EndDate   string `json:"endDate"`   // YYYY-MM-DD
	NoEndDate string `json:"noEndDate"` // why the contract does not end
}

func (s *Server) endStatement(r *http.Request, operator string, in completion) (any, error) {
	return s.cfg.Statements.Done(r.Context(), r.PathValue("id"),
		statements.Completion{Operator: operator, Reference: in.Reference, EndDate: in.EndDate, NoEnd: in.NoEndDate})
}

// endDoubt records whether the club system has ended the membership of a cancellation in doubt.
func (s *Server) endDoubt(isCancelled bool) handlerFunc {
	return func(r *http.Request, operator string) (any, error) {
		return s.cfg.Statements.EndDoubt(r.Context(), r.PathValue("id"), operator, isCancelled)
	}
}

func (s *Server) noteStatement(r *http.Request, operator string, in note) (any, error) {
	return s.cfg.Statements.AddNote(r.Context(), r.PathValue("id"), operator, in.Text)
}
