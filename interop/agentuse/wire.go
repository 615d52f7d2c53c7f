package agentuse

import "encoding/json"

type sessionFile struct {
	ID     string
	Parent string `json:"parentSessionID"`
	Agent  struct{ ID, Name, Description string }
	Model  string
	Version,
	Status string
	Project struct{ Root, Cwd string }
	Time    struct{ Created, Updated int64 }
}

type messageFile struct {
	ID   string
	Time struct{ Created, Completed int64 }
	User struct {
		Prompt struct{ Task, User string }
	}
	Assistant struct {
		ModelID, ProviderID string
		Tokens              struct {
			Input, Output, Reasoning int64
			Cache                    struct{ Read, Write int64 }
		}
	}
}

type partFile struct {
	ID        string
	MessageID string
	Type      string
	Text      string
	Role      string
	Synthetic bool
	CallID    string
	Tool      string
	State     struct {
		Status string
		Input  json.RawMessage
		Output json.RawMessage
		Error  string
		Title  string
		Time   span
	}
	Time span
}

type span struct{ Start, End int64 }
