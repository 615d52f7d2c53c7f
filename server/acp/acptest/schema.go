package acptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaVariable names the folder in which scripts/acp has installed the protocol's
// schemas.
const SchemaVariable = "SKEIN_ACP"

// A MessageSchema says what messages of the protocol look like: the unstable schema of
// version 1, which has the stable one in it. It is safe for concurrent use.
type MessageSchema struct {
	defs  map[string]*jsonschema.Schema
	raw   map[string]any
	named map[string]string // names of definitions, by what they are for, see defKey

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

// ReadSchema reads the schema from the folder that SchemaVariable names. It returns nil if
// the variable is not set: then nothing is checked against it.
func ReadSchema(t testing.TB) *MessageSchema {
	t.Helper()
	dir := os.Getenv(SchemaVariable)
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var marks struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		} `json:"$defs"`
	}
	var all struct {
		Defs map[string]*jsonschema.Schema `json:"$defs"`
	}
	var raw struct {
		Defs map[string]any `json:"$defs"`
	}
	for _, to := range []any{&marks, &all, &raw} {
		if err := json.Unmarshal(b, to); err != nil {
			t.Fatal(err)
		}
	}
	s := &MessageSchema{defs: all.Defs, raw: raw.Defs, named: map[string]string{}, resolved: map[string]*jsonschema.Resolved{}}
	for name, m := range marks.Defs {
		for _, part := range []string{"Request", "Response", "Notification"} {
			if strings.HasSuffix(name, part) && m.Method != "" {
				s.named[defKey(m.Side, m.Method, part)] = name
			}
		}
	}
	return s
}

// defKey says what a definition is for. side is the one that is asked or told.
func defKey(side, method, part string) string { return side + " " + method + " " + part }

// check returns what is wrong with the params or the result of a message.
func (s *MessageSchema) check(side, method, part string, body []byte) error {
	name := s.named[defKey(side, method, part)]
	if name == "" && side != "protocol" {
		side = "protocol"
		name = s.named[defKey(side, method, part)]
	}
	if name == "" {
		return fmt.Errorf("the schema has no %s %s", method, part)
	}
	r, err := s.resolve(name)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

func (s *MessageSchema) resolve(name string) (*jsonschema.Resolved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.resolved[name]; r != nil {
		return r, nil
	}
	defs := map[string]*jsonschema.Schema{}
	for name, d := range s.defs {
		defs[name] = d.CloneSchemas()
	}
	r, err := (&jsonschema.Schema{Ref: "#/$defs/" + name, Defs: defs}).Resolve(nil)
	if err == nil {
		s.resolved[name] = r
	}
	return r, err
}

// Agent returns what is wrong with a line that an agent sent. asked returns the method of
// the request that has an ID.
func (s *MessageSchema) Agent(line []byte, asked func(id string) string) error {
	var m struct {
		JSONRPC        string
		ID             json.RawMessage
		Method         string
		Params, Result json.RawMessage
		Error          *struct {
			Code    *int
			Message *string
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	switch {
	case m.JSONRPC != "2.0":
		return fmt.Errorf("jsonrpc is %q", m.JSONRPC)
	case m.Method != "" && m.ID == nil:
		return s.check("client", m.Method, "Notification", m.Params)
	case m.Method != "":
		return s.check("client", m.Method, "Request", m.Params)
	case m.Error != nil && (m.Error.Code == nil || m.Error.Message == nil || m.Result != nil):
		return fmt.Errorf("an error needs a code and a message, and no result beside it")
	case m.Error != nil:
		return nil
	}
	return s.check("agent", asked(string(m.ID)), "Response", m.Result)
}
