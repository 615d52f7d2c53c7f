// Package storetest tests that a [skein.Store] keeps every promise of the Store
// interface. Only tests import it.
//
// A store's test is one function:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) skein.Store { return mystore.New() }, storetest.Options{})
//	}
//
// The tests are named after the promises of the design, "01 The answer agrees
// with the disk" and so on; for example, -run 'TestStore/09' runs all tests of
// deletion. Tests that concern several writers run with one and with sixteen.
//
// A store that keeps its data where a second handle, or another process, can
// open it says so in [Options], and is then tested further:
//
//	func TestMain(m *testing.M) { storetest.Main(m, dial) }
//
//	func dial(address string) (skein.Store, error) { return mystore.Open(address) }
//
//	func TestStore(t *testing.T) {
//		var dirs sync.Map // store → its directory
//		open := func(t *testing.T) skein.Store {
//			dir := t.TempDir()
//			s, err := dial(dir)
//			if err != nil {
//				t.Fatal(err)
//			}
//			dirs.Store(s, dir)
//			return s
//		}
//		address := func(s skein.Store) string { dir, _ := dirs.Load(s); return dir.(string) }
//		storetest.Run(t, open, storetest.Options{Address: address, Dial: dial})
//	}
//
// Each promise is in the package of its subject: appends, reads, removal, whole.
// They test with package harness and the events of package fixture.
//
// Main lets the test binary be the other process: the suite starts it again
// with an environment variable.
package storetest
