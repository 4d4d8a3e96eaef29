package clubsim

import (
	"cmp"
	"slices"
	"time"
)

// What the timetable refers to: activities, the people who coach them, and a studio in each club. The description has none of
// these lists; their records are assumptions.

// coachNames are the given names of those who coach the activities.
var coachNames = []string{"Nour", "Milo", "Inès", "Sacha"}

func (w *World) activityRecord(id int) record {
	return w.record("Activity", "activities", id, record{
		"name": classNames[id-1].name, "clubId": nil, "durations": []string{"PT60M"}, "isBookable": true, "isViewable": true,
		"activityGroups": []string{},
	})
}

func (w *World) coachRecord(id int) record {
	return w.record("Coach", "coaches", id, record{
		"givenName": coachNames[id-1], "familyName": "Martin", "alternateName": nil, "activities": []string{w.iri("activities", id)},
	})
}

func (w *World) studioRecord(at *club) record {
	return w.record("Studio", "studios", at.studio(), record{
		"name": "Studio " + at.Code, "club": w.iri("clubs", at.ID), "streetAddress": at.Address.Street, "postalCode": at.Address.Postal,
		"addressLocality": at.Address.Locality, "addressCountry": at.Address.Country,
	})
}

// activityAt returns the number of an activity, which is also that of its coach.
func (c *request) activityAt(id int) (int, error) {
	if id > len(classNames) {
		return 0, itemNotFound()
	}
	return id, nil
}

// numbersTo are the numbers of the records of a list that no world changes.
func numbersTo(last int) (ids []int) {
	for id := range last {
		ids = append(ids, id+1)
	}
	return ids
}

// listActivities: GET activities. They are the same in every club.
func listActivities(c *request) (response, error) {
	return paginate(c, "Activity", numbersTo(len(classNames)), c.w.activityRecord)
}

// listCoaches: GET coaches.
func listCoaches(c *request) (response, error) {
	return paginate(c, "Coach", numbersTo(len(classNames)), c.w.coachRecord)
}

// listStudios: GET studios of the acting club, or of those that the filter club names.
func listStudios(c *request) (response, error) {
	clubIDs, err := c.filterIRIs("club", "clubs")
	if err != nil {
		return response{}, err
	}
	found := filter(c.w.catalogue.Clubs, func(at *club) bool { return c.listed(at.ID, clubIDs) })
	return paginate(c, "Studio", found, c.w.studioRecord)
}

func (c *request) studioAt(id int) (*club, error) {
	for _, at := range c.w.catalogue.Clubs {
		if at.studio() == id {
			return c.clubAt(at.ID)
		}
	}
	return nil, itemNotFound()
}

// listEvents: GET events, the classes of the acting club between startedAt and endedAt that are in one of the calendars: those of
// studios, coaches and activities.
func listEvents(c *request) (response, error) {
	after, noStart := c.filterMoment("startedAt")
	until, noEnd := c.filterMoment("endedAt")
	if err := cmp.Or(noStart, noEnd); err != nil {
		return response{}, err
	}
	calendars := c.req.query.all("calendars")
	inCalendar := func(e *classEvent) bool {
		return wanted(calendars, c.w.iri("studios", c.w.catalogue.club(e.ClubID).studio())) ||
			slices.Contains(calendars, c.w.iri("activities", e.Activity)) || slices.Contains(calendars, c.w.iri("coaches", e.Activity))
	}
	found := filter(c.w.state.ClassEvents.Rows, func(e *classEvent) bool {
		return c.listed(e.ClubID, nil) && !e.StartsAt.Before(after) && (until.IsZero() || !e.EndsAt.After(until)) && inCalendar(e)
	})
	return paginate(c, "Event", found, c.w.classRecord)
}

// filterMoment reads a date or a date-time from a query parameter; the zero one when it was not sent.
func (c *request) filterMoment(name string) (moment time.Time, err error) {
	text := c.req.query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	if moment, err = parseMoment(text); err != nil {
		return time.Time{}, invalid(violation{PropertyPath: name, Message: messageType})
	}
	return moment, nil
}
