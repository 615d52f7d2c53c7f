package removal

import "github.com/skein-dev/skein/store/storetest/harness"

// Promises returns these promises with their checks.
func Promises() []harness.Promise {
	return []harness.Promise{
		{Name: "08 Fork is a pointer", Checks: forks()},
		{Name: "09 Delete leaves nothing behind", Checks: deletion()},
		{Name: "10 Nothing is deleted by itself", Checks: bin()},
		{Name: "22 Scrub leaves no trace", Checks: scrubbing()},
	}
}
