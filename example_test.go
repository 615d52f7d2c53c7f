package skein_test

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
)

// The person took back a question while a tool ran for it. The log keeps all
// of it; the entries say what was rewound; the context leaves it out and has a
// result for the call that never got one.
func ExampleContext() {
	at := skein.Time(1795235760123)
	answer := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "bash", Input: []byte(`{"command":"make"}`)}},
	}}
	events := []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{Key: "cli:api"}),
		skein.Say(at, skein.UserSays("Build it.")),
		skein.Say(at, answer),
		skein.Say(at, skein.UserSays("And paint it blue.")),
		skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 3}),
		skein.Say(at, skein.UserSays("And test it.")),
	}
	for i := range events {
		events[i].Seq = skein.Seq(i + 1) // a Store does this
	}
	entries, err := skein.Entries(events)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		fmt.Println(e.Turn, e.Message.Role, e.Message.Words(), e.Rewound)
	}
	view, err := window.Context(events, window.AnthropicRules("some-model"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range view.Messages {
		fmt.Printf("%s: %d parts\n", m.Role, len(m.Parts))
	}
	fmt.Println(view.Repairs)
	// Output:
	// 1 user Build it. false
	// 1 assistant  false
	// 2 user And paint it blue. true
	// 3 user And test it. false
	// user: 1 parts
	// assistant: 1 parts
	// user: 2 parts
	// [{3 answered call c1}]
}
