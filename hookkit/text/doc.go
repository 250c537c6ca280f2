// Package text is for words on a terminal and in front of an agent: it takes out of foreign text what steers the reader, sets such text
// off behind a bar, cuts texts to a length whose unit the name says, and has the few words that our programs share.
//
// All functions take any bytes and need time linear in their length, unless they say otherwise.
//
// It serves the programs of this repository and carries no promise of stability.
package text
