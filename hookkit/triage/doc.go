// Package triage is memory-triage: when the agent stops, it reads the end of the session's transcript, decides which of six
// categories hold something worth writing down, and asks the agent for exactly that, once.
//
// One stop flows straight down:
//
//	hook.go          the stop: configuration, loop guard, what follows, the answer
//	reader.go        lines from the end of the file; record.go: what one line says
//	conversation.go  messages of the user and the agent, and the tools that changed files
//	prose.go         what is speech in a message, and not code, quotation, log; sentence.go: sentences and words
//	engine.go        the tables of rules (rules_*.go, markers.go, words.go) applied to a sentence; pattern.go: their language
//	context.go       what the conversation makes of it: text to order, retractions, one kind for one sentence, scores
//	features.go      what is known of a sentence: its words, the rules' hits, what stands around it
//	wording.go       what that speaks for, by weights that were learned (weights.txt, weights_gen.go, learn_test.go), and the score
//	choice.go        choices made in a dialogue; story.go: failures told over several messages; summary.go: what was changed
//	guard.go         what was asked for or saved before
//	model.go         the optional second opinion; model_http.go: its APIs
//	output.go        the text for the agent, without secrets (hookkit/secret)
//
// It serves cmd/memory-triage and carries no promise of stability.
package triage
