// Package llmtest has the tests that every provider must pass, and local
// servers that speak the providers' wire formats. A provider's test passes its
// [Suite] to [Run]:
//
//	func TestProvider(t *testing.T) {
//		llmtest.Run(t, llmtest.Suite{
//			Serve: llmtest.Anthropic,
//			Model: "claude-sonnet-4-5",
//			Open:  func(o llm.Options) (llm.Provider, error) { return anthropic.New(o) },
//		})
//	}
//
// A [Server] gives scripted answers, and fails as instructed: it rejects
// requests, breaks off after any byte, hangs, sends invalid JSON. It checks
// requests as strictly as the real servers do, with their error texts: calls
// without results, results without calls, wrong roles, blank texts, unknown
// fields, signatures that it did not give. What it received can be inspected
// afterward. The tests of the turn loop and of commands use it too, and those that
// run other agents, for which it is lax ([Server.Lax]):
//
//	s := llmtest.OpenAI(t, llmtest.Calls(call), llmtest.Says("done"))
//	… --base-url s.URL, with the key llmtest.Key …
//	if n := len(s.Requests()); n != 2 { … }
package llmtest
