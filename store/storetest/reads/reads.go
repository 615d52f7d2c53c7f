package reads

import "github.com/skein-dev/skein/store/storetest/harness"

// Promises returns these promises with their checks.
func Promises() []harness.Promise {
	return []harness.Promise{
		{Name: "07 Newest N", Checks: newest()},
		{Name: "13 Search finds", Checks: searching()},
		{Name: "14 Watch gives what was, then what comes", Checks: watching()},
		{Name: "18 A session is what its events add up to", Checks: folding()},
		{Name: "19 Usage counts each request once", Checks: usages()},
		{Name: "24 Lists", Checks: listing()},
		{Name: "26 A window has the context", Checks: windows()},
		{Name: "27 The feed has every event", Checks: feeding()},
		{Name: "29 A session's row says what is live in it", Checks: liveMessages()},
		{Name: "30 Whoever gives up breaks nothing", Checks: givingUp()},
		{Name: "32 Edits are found by file and line", Checks: editing()},
	}
}
