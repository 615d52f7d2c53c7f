package appends

import "github.com/skein-dev/skein/store/storetest/harness"

// Promises returns these promises with their checks.
func Promises() []harness.Promise {
	return []harness.Promise{
		{Name: "01 The answer agrees with the disk", Checks: answer()},
		{Name: "02 All or none", Checks: allOrNone()},
		{Name: "03 Seq is the order", Checks: order()},
		{Name: "04 Same client ID twice is one event", Checks: clientIDs()},
		{Name: "05 After is checked", Checks: after()},
		{Name: "06 A stale lease cannot write", Checks: leases()},
		{Name: "11 Bytes in are bytes out", Checks: exactly()},
		{Name: "12 Two processes lose nothing", Checks: processes()},
		{Name: "15 IDs never change", Checks: steadyIDs()},
		{Name: "20 Blobs", Checks: blobs()},
		{Name: "21 Source records", Checks: sources()},
	}
}
