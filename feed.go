package skein

// A Cursor is a place in all that a store was given, in the store's own words:
// only that store can say what it means. "" is the beginning.
type Cursor string

// FeedNow stands for the end of what is stored. The first that [Store.Feed]
// then yields has no event, only the cursor of that place.
const FeedNow Cursor = "now"

// A Fed is an event among those of all sessions.
type Fed struct {
	Cursor  Cursor // the place behind it
	Session SessionID
	User    User
	Event   Event
	Damaged bool // Event only stands in for one that cannot be read as it was written
}
