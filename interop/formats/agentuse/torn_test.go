package agentuse

import "testing"

// Only session.json says what a session began with, which is set when it is created.
func TestASessionWaitsForItsOwnFileToBeWhole(t *testing.T) {
	const whole = `{"id":"` + ann + `","version":"0.1.0","agent":{"name":"helper"},"model":"openai:gpt-5","time":{"created":1000,"updated":1000},"project":{"root":"/home/ada/fig","cwd":"/home/ada/fig"}}`
	for _, part := range []string{"", whole[:40]} {
		tr := newTree(t)
		tr.begin(part)
		tr.write("session.json", part) // just now
		if rep := tr.bring(); rep.Sessions != 0 {
			t.Errorf("Import while session.json is %q = %+v, want no session yet", part, rep)
		}
		tr.begin(whole)
		tr.bring()
		s, err := tr.store.Session(t.Context(), ann)
		if err != nil || s.Cwd != "/home/ada/fig" {
			t.Errorf("after %q the session is in %q, %v, want /home/ada/fig", part, s.Cwd, err)
		}
		broken := newTree(t)
		broken.begin(part)
		if rep := broken.bring(); rep.Sessions != 1 {
			t.Errorf("Import when session.json stays %q = %+v, want 1 session", part, rep)
		}
	}
}
