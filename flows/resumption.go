package flows

import (
	"time"
)

const (
	// resumeLife: whoever takes another device does so on the same day. A link that
	// lies around for longer is somebody else's in the end.
	resumeLife = 24 * time.Hour
	// maxResumed: devices that hold a registration beside the first one. A phone, a
	// computer, and each once more after its browser forgot; then the oldest goes.
	maxResumed = 4
)

// ResumeLink is a link with which a registration is resumed on another device.
type ResumeLink struct {
	URL       string
	ExpiresAt time.Time
}

// Resume is what a registration keeps of the link that resumes it. It is part of
// the record that it gives access to: the version that guards every change makes
// it good for one use, and a new link takes its place.
type Resume struct {
	Hash      string    `json:"hash"` // SHA-256 of what the link holds, hex
	ExpiresAt time.Time `json:"expiresAt"`
}
