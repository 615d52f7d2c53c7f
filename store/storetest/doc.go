// Package storetest puts a [skein.Store] to every promise that the Store
// interface makes. Only tests import it.
//
// A store's test is one function:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) skein.Store { return mystore.New() }, storetest.Options{})
//	}
//
// The tests are named after the promises of the design, "01 The answer agrees
// with the disk" and so on, so -run 'TestStore/09' is all that deletion has to
// do with. Those that matter to several writers run with one and with sixteen.
//
// A store that keeps its data where a second handle, or another process, can
// open it says so in [Options], and is put to more:
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
// Main makes the test binary, started again by the suite with a variable set
// in its environment, the other process.
package storetest
