// Testlog reads what go test -json prints and tells what matters of it: go
// test's own line for each package, all that a failing test said, and each
// test that was skipped, with its reason. With -noskip a skipped test is a
// failure.
//
//	go test -json ./... | go run ./scripts/testlog -noskip
package main
