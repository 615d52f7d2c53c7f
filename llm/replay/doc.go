// Package replay is a model that repeats the answers of another one in a stored
// session, in order: the regression test for an agent, without a network or a
// key.
//
// Answers that broke off or failed, that a program inserted, or that were
// rewound are left out. Consecutive answers are one, because some sources store
// each piece of an answer as a message of its own. Reasoning is shown but not
// sent back.
//
// The next answer is found by counting: in a thread whose context already has
// answers of a [Model], from another process, it continues after those. An
// answer that was not read to its end is repeated. When there are no more, a
// request fails with [llm.ErrRequest]; so does one that a program makes beside
// the conversation, for a title or a summary, because its answer was not stored
// as a message.
//
// A request may differ from the recorded one: [Options.Differ] is called then.
package replay
