// Package replay is a model that answers with what another one answered in a
// stored session, in order: the regression test for an agent, without a
// network or a key.
//
// Answers that broke off or failed, that a program put in, or that were
// rewound are left out. Answers in a row are one, as some sources keep each
// piece of an answer as a message of its own. Reasoning is shown and not sent
// back.
//
// Which answer comes next is counted: in a thread that has answers of a
// [Model] in its context already, of another process, it goes on after those.
// An answer that was not heard to its end comes again. When there are no more,
// a request is turned down with [llm.ErrRequest]; so is one that a program
// makes beside the conversation, for a title or a summary, as what was
// answered to those is no message.
//
// What is asked may differ from what was asked then: [Options.Differ] is told.
package replay
