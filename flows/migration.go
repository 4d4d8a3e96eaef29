package flows

import (
	"errors"

	"frontdesk/upstream/club"
)

// migrationFailed puts the documented errors of a migration into words for the
// person (club system API, section Errors); nil for any other error.
func MigrationFailed(err error) error {
	switch {
	case errors.Is(err, club.ErrMigrationClub):
		return &Error{Code: MigrationClub, Err: err,
			Detail: "The club cannot take you over: either it is your club already, or it belongs to another chain. Please ask the club."}
	case errors.Is(err, club.ErrMigrationContact):
		return &Error{Code: MigrationContact, Err: err,
			Detail: "Only somebody who is not a member, or not any more, can move. Please ask your club."}
	case errors.Is(err, club.ErrOutOfReach):
		return &Error{Code: MigrationNotShared, Err: err,
			Detail: "The two clubs do not share your details. Please ask the club."}
	}
	return nil
}
