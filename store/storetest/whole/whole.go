package whole

import "github.com/skein-dev/skein/store/storetest/harness"

// Promises returns these promises with their checks.
func Promises() []harness.Promise {
	return []harness.Promise{
		{Name: "16 A newer version is refused", Checks: newer()},
		{Name: "17 After Close every method says closed", Checks: closing()},
		{Name: "23 A view is one user's", Checks: append(views(), apart()...)},
		{Name: "25 Whatever is done, in any order", Checks: anything()},
		{Name: "28 What is read is what was written", Checks: damage()},
		{Name: "31 The audit says what tokens were used for", Checks: auditing()},
		{Name: "32 A link to a session is kept as long as the session is", Checks: sharing()},
	}
}
