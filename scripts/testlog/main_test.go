package main

import (
	"bytes"
	"strings"
	"testing"
)

const run = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: Add(1, 1) = 3, want 2\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: no sqlite3 shell\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"SIGQUIT: quit\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.2s\n"}
{"Action":"pass","Package":"q"}
{"Action":"build-output","ImportPath":"r","Output":"r.go:1: syntax error\n"}
{"Action":"build-fail","ImportPath":"r"}
`

func TestOnlyWhatMattersIsTold(t *testing.T) {
	var out bytes.Buffer
	l := log{out: &out, said: map[string]*strings.Builder{}}
	if err := l.read(strings.NewReader(run)); err != nil {
		t.Fatal(err)
	}
	l.end()
	want := `    b_test.go:7: Add(1, 1) = 3, want 2
--- FAIL: TestB (0.00s)
FAIL	p	0.1s
UNFINISHED p TestD
SIGQUIT: quit
ok  	q	0.2s
r.go:1: syntax error
SKIPPED p TestC: c_test.go:9: no sqlite3 shell
`
	if out.String() != want {
		t.Errorf("it says\n%swant\n%s", out.String(), want)
	}
	if !l.failed || len(l.skipped) != 1 {
		t.Errorf("failed %t, skipped %q; want a failure and one skipped", l.failed, l.skipped)
	}
}
