// Package triage is memory-triage: when the agent stops, it reads the end of the session's transcript, decides which of six
// categories hold something worth writing down, and asks the agent for exactly that, once.
//
// One stop flows straight down: readTail reads lines from the end of the file, conversation makes messages of them,
// prose takes away what nobody said (code, quotes, logs), sentences splits the rest, the rules find evidence in each
// sentence, weigh takes the conversation around it into account, guard drops what was asked for or saved before, an optional
// model confirms or denies what is in doubt, and compose writes the text for the agent.
//
// It serves cmd/memory-triage and carries no promise of stability.
package triage
