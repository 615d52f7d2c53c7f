// Package interoptest tests what every format must do. A format's test passes
// its [Suite] to [Run]:
//
//	func TestFormat(t *testing.T) {
//		interoptest.Run(t, interoptest.Suite{Format: claudecode.Format(), Dir: "testdata"})
//	}
//
// Each entry of Dir that is a folder, or a file whose name does not end in
// .golden, is a case: it is copied to a new place, its files get times in the
// order of their names, and it is imported from there. Beside it is
// <case>.golden with the result of the import; -update writes these files:
// read the difference before you commit it.
package interoptest
