//go:build !unix

package integration

func clientCommands([]string) (int, bool) { return 0, false }
