// Package llmtest holds what every provider must do, and local servers that
// speak the providers' wire formats. A provider's test hands its [Suite] to
// [Run]:
//
//	func TestProvider(t *testing.T) {
//		llmtest.Run(t, llmtest.Suite{
//			Serve: llmtest.Anthropic,
//			Model: "claude-sonnet-4-5",
//			Open:  func(o llm.Options) (llm.Provider, error) { return anthropic.New(o) },
//		})
//	}
//
// A [Server] gives scripted answers, and goes wrong as it is told: it turns
// requests down, breaks off after any byte, hangs, sends what is no JSON. It
// reads requests as strictly as the real ones do, with their error texts:
// calls without results, results without calls, wrong roles, blank texts,
// fields that nobody knows, signatures that it did not give. What it read can
// be looked at afterwards. So the tests of the turn loop and of commands talk
// to it too:
//
//	s := llmtest.OpenAI(t, llmtest.Calls(call), llmtest.Says("done"))
//	… --base-url s.URL, with the key llmtest.Key …
//	if n := len(s.Requests()); n != 2 { … }
package llmtest
