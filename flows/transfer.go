package flows

// Transfer is the move of an identified contact to another club of the chain.
type Transfer struct {
	Signature
	Version int64  `json:"-"` // counted by the store
	ClubID  string `json:"clubId"`
}
