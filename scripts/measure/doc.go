// Measure prints how large and how entangled the code is: what is at the root,
// the lines of code and of tests, the largest packages, types and structs, the
// methods of a Store, the references between the files of a package that go
// both ways, and the requirements of the module.
//
//	go run ./scripts/measure
package main
