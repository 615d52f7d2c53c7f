package live

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// An Attach is the first line of a guest.
type Attach struct {
	By  string `json:"by"`            // who attaches, for people
	Hub string `json:"hub,omitempty"` // of the guest's cursor; "" if it has none
	N   int64  `json:"n,omitempty"`   // likewise

	Brief bool `json:"brief,omitempty"` // the guest only looks at what is asked, or makes one request: it is shown no updates
}

// An Welcome is the first line of a hub.
type Welcome struct {
	Hub      string    `json:"hub"`                // its name
	Base     skein.Seq `json:"base"`               // what the updates of the hub follow: the events up to here are to be read in the store
	N        int64     `json:"n"`                  // the number of the update before the first one that follows
	Continue bool      `json:"continue,omitempty"` // the updates follow the guest's cursor: nothing is to be read
	Error    string    `json:"error,omitempty"`

	Asked []OpenPermission `json:"asked,omitempty"` // for a brief guest: what nobody has answered, the oldest first
}

// An OpenPermission is a permission that an agent asks for, and that nobody has answered.
type OpenPermission struct {
	Name   string          `json:"name"`   // as guests know it: of one hub, and of no other
	Params json.RawMessage `json:"params"` // of session/request_permission
}

// A PermissionDecision says how a permission was decided.
type PermissionDecision struct {
	By      string `json:"by"`
	Outcome string `json:"outcome"`          // selected or cancelled
	Option  string `json:"option,omitempty"` // its ID
	Name    string `json:"name,omitempty"`   // of the option, for people
}

// Words describes d to a person: "phone chose Allow".
func (d PermissionDecision) Words() string {
	switch {
	case d.Outcome != "selected":
		return d.By + " canceled it"
	case d.Name != "":
		return d.By + " chose " + d.Name
	}
	return d.By + " chose " + d.Option
}

// A Line is what a hub sends after its first line.
type Line struct {
	N        int64               `json:"n,omitempty"`
	Base     skein.Seq           `json:"base,omitempty"` // of an update: events up to here were before it
	Update   json.RawMessage     `json:"update,omitempty"`
	Ask      string              `json:"ask,omitempty"`
	Params   json.RawMessage     `json:"params,omitempty"`
	Decided  string              `json:"decided,omitempty"`
	Decision *PermissionDecision `json:"decision,omitempty"`
	ID       int64               `json:"id,omitempty"`
	Turn     string              `json:"turn,omitempty"`
	Result   json.RawMessage     `json:"result,omitempty"`
	Error    string              `json:"error,omitempty"`
	End      bool                `json:"end,omitempty"` // the session was closed, and all that happened was sent
}

// A Wish is a request of a guest.
type Wish struct {
	ID     int64           `json:"id"`
	Answer string          `json:"answer,omitempty"` // a permission that was asked for
	Once   bool            `json:"once,omitempty"`   // the answer may decide only about the call that is asked for
	Prompt json.RawMessage `json:"prompt,omitempty"` // content blocks
	Cancel bool            `json:"cancel,omitempty"` // the turn
	Result json.RawMessage `json:"result,omitempty"` // of the answer
}
