// Testlog reads the output of go test -json and prints what matters: go test's
// own line for each package, all output of a failing test, and each skipped
// test, with its reason. With -noskip a skipped test is a failure.
//
//	go test -json ./... | go run ./scripts/testlog -noskip
package main
