// Package interoptest holds what every format must do. A format's test hands
// its [Suite] to [Run]:
//
//	func TestFormat(t *testing.T) {
//		interoptest.Run(t, interoptest.Suite{Format: claudecode.Format(), Dir: "testdata"})
//	}
//
// Each entry of Dir that is a folder, or a file whose name does not end in
// .golden, is a case: it is copied to a new place, its files made older the
// earlier their names come, and imported from there. Beside it stands
// <case>.golden with all that the import gave; -update writes these files:
// read the difference before you commit it.
package interoptest
